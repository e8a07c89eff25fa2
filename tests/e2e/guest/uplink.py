"""Ways in which the host takes a netdev for itself, made with the kernel's own bridge, bond and VLAN."""

import subprocess


def default_route(netdev: str) -> None:
    _ip(f"link set {netdev} up")
    _ip(f"address add 192.0.2.2/24 dev {netdev}")
    _ip(f"route add default via 192.0.2.1 dev {netdev}")


def default_route6(netdev: str) -> None:
    _ip(f"link set {netdev} up")
    _ip(f"-6 address add 2001:db8::2/64 dev {netdev} nodad")
    _ip(f"-6 route add default via 2001:db8::1 dev {netdev}")


def bridge(netdev: str, name: str = "br-host") -> None:
    _load("bridge")
    _ip(f"link add {name} type bridge")
    _ip(f"link set {netdev} master {name}")


def bond(netdev: str, name: str = "bond-host") -> None:
    _load("bonding")
    _ip(f"link add {name} type bond mode active-backup")
    _ip(f"link set {netdev} down")
    _ip(f"link set {netdev} master {name}")


def vlan(netdev: str, name: str = "vlan-host") -> None:
    _load("8021q")
    _ip(f"link add link {netdev} name {name} type vlan id 100")


def free(*netdevs: str) -> None:
    """Undo all of it."""
    for name in ("br-host", "bond-host", "vlan-host"):
        subprocess.run(["ip", "link", "delete", name], check=False, capture_output=True)
    for netdev in netdevs:
        _ip(f"address flush dev {netdev}")
        _ip(f"link set {netdev} down")


def up(netdev: str) -> None:
    _ip(f"link set {netdev} up")


def into_pod(netdev: str, pod: str) -> None:
    """Move *netdev* to a network namespace of its own, as a CNI plugin does."""
    _ip(f"netns add {pod}")
    _ip(f"link set {netdev} netns {pod}")


def pod_ends(pod: str) -> None:
    """Its namespace goes; the kernel gives a VF's netdev back to the host."""
    _ip(f"netns delete {pod}")


def _ip(arguments: str) -> None:
    subprocess.run(["ip", *arguments.split()], check=True)


def _load(module: str) -> None:
    subprocess.run(["modprobe", module], check=True)
