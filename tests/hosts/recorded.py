"""Trees recorded on a real kernel, in the text form of ``recorded/*.txt``.

A section ``##### NAME: /sys/devices/...`` holds a device: ``attribute = value``, ``link -> target``
and ``directory/`` with what is in it indented by four. Lines of a value are parted by ``|``; a
value cut short has its whole text after the section (``uevent: ...``). After the last section
follow listings of /dev and of class directories.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path, PurePosixPath
from typing import Final

from tests.hosts.layout import Layout
from tests.hosts.routes import table4, table6

RECORDED: Final = Path(__file__).with_name("recorded")

_SECTION: Final = re.compile(r"#{5} .*: /(?P<path>sys/\S+)$")
_ENTRY: Final = re.compile(r"(?P<indent>(?:    )+)(?P<name>\S+?)(?P<kind>/$| = | -> )(?P<rest>.*)")
_LISTED: Final = re.compile(r"     /(?P<path>\S+):$")
_LINK: Final = re.compile(r"     l[rwx-]{9} .* (?P<name>\S+) -> (?P<target>\S+)$")
_NODE: Final = re.compile(r"     c[rwx-]{9} .* (?P<name>\S+)$")

#: Values of attributes that could not be read, or are not text.
_NO_VALUE: Final = re.compile(r"\((OSError|PermissionError|binary)\b.*\)$")


def recorded(name: str = "trees") -> Layout:
    """Read a recording."""
    reading = _Reading()
    for line in (RECORDED / f"{name}.txt").read_text().splitlines():
        reading.take(line)
    return reading.layout()


@dataclass(slots=True)
class _Reading:
    """What has been read so far, and where in the text we are."""

    files: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    directories: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    at: list[str] = field(default_factory=list)

    def take(self, line: str) -> None:
        if found := _SECTION.match(line):
            self.at = [found["path"]]
            self.devices.append(found["path"])
        elif line.startswith("uevent: ") and self.at:
            self.files[f"{self.at[0]}/uevent"] = _lines(line.removeprefix("uevent: "))
        elif found := _LISTED.match(line):
            self.at = [found["path"]]
        elif line.startswith("   $ "):
            self.at = ["dev"]
        elif found := _LINK.match(line):
            self.links[f"{self.at[0]}/{found['name']}"] = found["target"]
        elif found := _NODE.match(line):
            self.files[f"dev/{_node_name(self.at[0], found['name'])}"] = ""
        elif self.at and (found := _ENTRY.match(line)):
            self._entry(len(found["indent"]) // 4, found["name"], found["kind"], found["rest"])

    def layout(self) -> Layout:
        """The host, with the links of buses, drivers, classes and groups that were not listed."""
        links = dict(self.links)
        drivers = [_resolved(p, t) for p, t in links.items() if PurePosixPath(p).name == "driver"]
        for device in self.devices:
            links.update(_links_to(device, self.links))
        for path in self.directories:
            if found := re.fullmatch(r"(sys/devices/.*/net/([^/]+))", path):
                links[f"sys/class/net/{found[2]}"] = f"../../{found[1].removeprefix('sys/')}"
        files = {**self.files, "proc/net/route": table4(()), "proc/net/ipv6_route": table6(())}
        return Layout(files, links, (*self.directories, *drivers))

    def _entry(self, depth: int, name: str, kind: str, rest: str) -> None:
        self.at = self.at[:depth]
        path = "/".join((*self.at, name))
        if kind == "/":
            self.directories.append(path)
            self.at.append(name)
        elif kind == " -> ":
            self.links[path] = rest
        elif not _NO_VALUE.match(rest):
            self.files[path] = _lines(rest)


def _links_to(device: str, links: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The links that lead to a PCI device from its bus, driver and IOMMU group."""
    bdf, way = PurePosixPath(device).name, device.removeprefix("sys/")
    yield f"sys/bus/pci/devices/{bdf}", f"../../../{way}"
    if driver := links.get(f"{device}/driver"):
        yield f"sys/bus/pci/drivers/{PurePosixPath(driver).name}/{bdf}", f"../../../../{way}"
    if group := links.get(f"{device}/iommu_group"):
        number = PurePosixPath(group).name
        yield f"sys/kernel/iommu_groups/{number}/devices/{bdf}", f"../../../../{way}"


def _resolved(path: str, target: str) -> str:
    """What a link at *path* leads to."""
    return normpath(PurePosixPath(path).parent / target)


def _node_name(listed: str, name: str) -> str:
    """A node's path below /dev: listed by itself, or in a listing of its directory."""
    if name.startswith("/dev/"):
        return name.removeprefix("/dev/")
    return f"{listed.removeprefix('dev/')}/{name}"


def _lines(value: str) -> str:
    return value.rstrip("|").replace("|", "\n")
