"""What breaks a host that lies on disk."""

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.hosts.child import ChildDevice
from tests.hosts.laid import LaidHost
from tests.hosts.netdev import Netdev
from tests.hosts.rdma import RdmaDevice
from tests.hosts.uio import UioDevice
from tests.hosts.vdpa import VdpaDevice

KINDS = (
    "delete",
    "truncate",
    "halve",
    "dangle",
    "loop",
    "climb",
    "swap",
    "file to directory",
    "directory to file",
    *("garbage",) * 4,
    "pod",
    "unbind",
    *("renumber",) * 4,
)
GROUPS = {
    "device": re.compile(r"class|device|driver|iommu_group|numa_node|physfn|sriov_numvfs|uevent|vendor|virtfn\d+"),
    "facility": re.compile(r"ibdev|infiniband(_\w+)?|net|sfnum|uio|vfio-dev|virtio\d+|0"),
    "child": re.compile(r"mlx5_.*|v(host-v)?dpa.*|uverbs\d+|umad\d+|uio\d+|vfio\d+"),
    "interface": re.compile(r"phys_port_name|phys_switch_id|type|dev_port|master|lower_.*|ens.*"),
}
"""Names that a reader of hosts looks at; the others are broken more rarely."""


@dataclass(frozen=True, slots=True)
class Blow:
    """One thing that happens: what, to which group of places, and to which one of them."""

    kind: str
    group: str
    place: int


def blows() -> SearchStrategy[list[Blow]]:
    """Up to eight of them."""
    groups = st.sampled_from(("pci", "dev", "device", "facility", *("child",) * 3, "interface", "proc", "any"))
    return st.lists(st.builds(Blow, st.sampled_from(KINDS), groups, st.integers(0, 9999)), max_size=8)


def strike(laid: LaidHost, blow: Blow) -> None:
    """Let it happen, if there is anything left that it can happen to."""
    with suppress(OSError):
        match blow.kind:
            case "pod":
                _give_to_a_pod(laid, blow.place)
            case "unbind":
                _unbind(laid, blow.place)
            case "renumber":
                _renumber(laid, blow.place)
            case _ if places := _places(laid.root, blow.group):
                _break(laid.root, blow, places[blow.place % len(places)])
            case _:
                pass


def _break(root: Path, blow: Blow, place: Path) -> None:
    is_file = place.is_file() and not place.is_symlink()
    is_directory = place.is_dir() and not place.is_symlink()
    match blow.kind:
        case "truncate" | "halve" | "garbage" if is_file:
            text = place.read_bytes()
            garbage = _GARBAGE[blow.place // 7 % len(_GARBAGE)]
            place.write_bytes({"truncate": b"", "halve": text[: len(text) // 2], "garbage": garbage}[blow.kind])
        case "file to directory" if not is_directory:
            place.unlink()
            place.mkdir()
        case "directory to file" if is_directory:
            shutil.rmtree(place)
            place.write_bytes(b"0x15b3\n")
        case "delete" | "dangle" | "loop" | "climb" | "swap":
            _remove(place)
            astray = _other(root, blow.place)
            targets = {"dangle": "../nowhere", "loop": place.name, "climb": "..", "swap": str(astray)}
            if blow.kind in targets:
                place.symlink_to(targets[blow.kind])
        case _:
            pass


_GARBAGE = (
    b"\xff\x00=zz 0x\n\x85\xe2\x80\xa8\n=\n",
    b"9" * 5000,
    b"99999999999999999999\n",
    (b"-0x7 zz " * 9 + b"\n") * 3,
    b"../..",
)


def _remove(place: Path) -> None:
    if place.is_symlink() or not place.is_dir():
        place.unlink(missing_ok=True)
    else:
        shutil.rmtree(place)


def _other(root: Path, number: int) -> Path:
    """Another device's directory, for a link that leads astray."""
    devices = sorted((root / "sys/bus/pci/devices").iterdir()) if (root / "sys/bus/pci/devices").is_dir() else [root]
    return devices[number % len(devices)] if devices else root


def _places(root: Path, group: str) -> Sequence[Path]:
    if group == "pci":
        top = root / "sys/bus/pci/devices"
        return sorted(top.iterdir()) if top.is_dir() else ()
    top = {"dev": root / "dev", "proc": root / "proc"}.get(group, root / "sys")
    wanted = GROUPS.get(group)
    found = [
        Path(directory) / name
        for directory, directories, files in os.walk(top)
        for name in (*directories, *files)
        if wanted is None or wanted.fullmatch(name)
    ]
    return sorted(found)


def _give_to_a_pod(laid: LaidHost, number: int) -> None:
    functions = [f for f in laid.description.functions.values() if f.physfn and f.netdevs]
    if functions:
        function = functions[number % len(functions)]
        for child in function.children:
            if isinstance(child, Netdev | RdmaDevice):
                child.leave_for_pod(laid.tree, function.path)


def _renumber(laid: LaidHost, number: int) -> None:
    """A driver makes its devices anew, and they get other nodes."""
    functions = [f for f in laid.description.functions.values() if f.children]
    if functions:
        function = functions[number % len(functions)]
        for child in function.children:
            again: ChildDevice
            match child:
                case RdmaDevice(uverbs=int(uverbs)):
                    again = replace(child, uverbs=uverbs + 50)
                case UioDevice() | VdpaDevice():
                    again = replace(child, number=child.number + 50)
                case _:
                    continue
            child.remove(laid.tree, function.path)
            again.lay(laid.tree, function.path)


def _unbind(laid: LaidHost, number: int) -> None:
    functions = list(laid.description.functions.values())
    path = functions[number % len(functions)].path
    laid.tree.delete(f"{path}/driver")
    uevent = laid.root / path / "uevent"
    if uevent.is_file():
        uevent.write_bytes(b"\n".join(line for line in uevent.read_bytes().split(b"\n") if b"DRIVER" not in line))
