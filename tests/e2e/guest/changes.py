"""What happens to a node while it serves, made with the kernel's own means, and what the kubelet has to hold then.

Each change returns when the kernel is done with it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.e2e.guest import kernel, layout, uplink, vfs
from tests.e2e.guest.qmp import Qmp

Lists = dict[str, dict[str, str]]
"""Health by device by resource."""

_HOT = "pf2"
"""QEMU's name of the PF that has a root port for itself; `devices` says which."""
_CABLE = "pf0"
_POD = "live-pod"


@dataclass(frozen=True)
class Change:
    told: str
    make: Callable[[], object]
    broken: Callable[[], set[str]] = set
    """Which devices are to be Unhealthy then."""

    def expected(self) -> Lists:
        """What the kubelet has to hold, by what the kernel says now."""
        lists = layout.expected()
        routed = _routed()
        unhealthy = self.broken()
        return {
            resource: {one: "Unhealthy" if one in unhealthy else "Healthy" for one in devices - routed}
            for resource, devices in lists.items()
        }


def story(qemu: Qmp) -> Iterator[Change]:
    """All of them, one after the other, from the usual layout and back to it."""
    first, _, hot, routed = kernel.pfs()
    count = partial(vfs.create, first)
    for number in (0, 7, 3, 7):
        yield Change(f"{number} VFs on {first}", partial(count, number))

    for hours, number in ((1, 3), (-2, 5), (1, 7)):
        yield Change(f"clock set by {hours:+} h, {number} VFs on {first}", partial(_set_clock, hours, count, number))

    moving = kernel.function(first).vfs[6]
    yield Change(f"VF {moving} to vfio-pci", partial(vfs.drive, "vfio-pci", moving))
    yield Change(f"VF {moving} without a driver", partial(vfs.drive, None, moving))
    yield Change(f"VF {moving} back to igbvf", partial(vfs.drive, "igbvf", moving))

    name = kernel.netdev(moving)
    yield Change(f"{name} into a pod's network namespace", partial(uplink.into_pod, name, _POD))
    yield Change("the pod ends", partial(_pod_ends, moving))

    cabled = kernel.function(first).vfs[5]
    yield Change(f"VF {cabled} to vfio-pci", partial(vfs.drive, "vfio-pci", cabled))
    on_cable = partial(_on_vfio, first)
    yield Change(f"cable of {first} pulled", partial(_link, qemu, first, False), on_cable)
    yield Change(f"cable of {first} back", partial(_link, qemu, first, True))

    plugged = kernel.netdev(routed)
    yield Change(f"default route to {plugged}", partial(uplink.default_route, plugged))
    yield Change(f"default route away from {plugged}", partial(uplink.free, plugged))

    yield Change(f"PF {hot} unplugged", partial(_unplug, qemu, hot))
    yield Change(f"PF {hot} plugged in again", partial(_plug, qemu, hot))
    yield Change(f"2 VFs on {hot}", partial(vfs.create, hot, 2))
    yield Change(f"PF {hot} unplugged with its VFs", partial(_unplug, qemu, hot))
    yield Change(f"PF {hot} plugged in again", partial(_plug, qemu, hot))
    yield Change("the usual layout", layout.lay_out)


def _set_clock(hours: int, change: Callable[[int], object], number: int) -> None:
    """The wall clock jumps, and a change follows while everything that waits by a clock still does."""
    time.clock_settime(time.CLOCK_REALTIME, time.time() + hours * 3600)
    change(number)


@contextmanager
def links_up(*pfs: str) -> Iterator[None]:
    netdevs = [kernel.netdev(pf) for pf in pfs]
    for netdev in netdevs:
        uplink.up(netdev)
    _wait(lambda: {_carrier(netdev) for netdev in netdevs} == {"1"})
    yield
    uplink.free(*netdevs)


def _routed() -> set[str]:
    """The functions whose netdevs have the default route, which the host itself needs."""
    lines = [line.split() for line in Path("/proc/net/route").read_text().splitlines()[1:]]
    names = {fields[0] for fields in lines if fields[1] == fields[7] == "00000000"}
    return {one.address for one in kernel.functions() if names & set(one.netdevs)}


def _on_vfio(pf: str) -> set[str]:
    return {vf for vf in kernel.function(pf).vfs if kernel.function(vf).driver == "vfio-pci"}


def _pod_ends(vf: str) -> None:
    uplink.pod_ends(_POD)
    _wait(lambda: bool(kernel.function(vf).netdevs))
    vfs.settle()


def _link(qemu: Qmp, pf: str, up: bool) -> None:
    qemu.set_link(_CABLE, up=up)
    netdev = kernel.netdev(pf)
    _wait(lambda: _carrier(netdev) == str(int(up)))


def _carrier(netdev: str) -> str:
    return Path(f"/sys/class/net/{netdev}/carrier").read_text().strip()


def _unplug(qemu: Qmp, pf: str) -> None:
    qemu.unplug(_HOT)
    _wait(lambda: not (kernel.DEVICES / pf).exists())
    vfs.settle()


def _plug(qemu: Qmp, pf: str) -> None:
    qemu.plug("igb", _HOT, bus="rp2", addr="0x0.0", multifunction=True, netdev="n2", mac="52:54:00:00:00:03")
    _wait(lambda: (kernel.DEVICES / pf).exists() and bool(kernel.function(pf).netdevs))
    vfs.settle()


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the kernel has not done it within 60 s"
        time.sleep(0.05)
