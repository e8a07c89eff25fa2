"""Resetting and rebinding on a simulated sysfs whose writes do what the kernel does."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from errno import EACCES, EBUSY, EIO, ENODEV, EROFS, errorcode
from pathlib import Path
from typing import Any

import pytest
from pytest_mock import MockerFixture

from adapters.sysfs.function_control import SysfsFunctionControl
from adapters.sysfs.host_reader import SysfsHostReader
from domain.errors import FunctionRefused
from domain.host import PciFunction
from domain.pci import PciAddress
from tests.hosts.ground import temporary_directory
from tests.hosts.host import SimHost
from tests.hosts.laid import LaidHost
from tests.hosts.named import h1, h2

VF = "0000:3b:01.1"


@dataclass
class Kernel:
    """What the kernel does with writes; `takes` says which drivers take a function, `errors` what opening fails with.

    `writes` are the names of the files written and what was, in order.
    """

    laid: LaidHost
    takes: Callable[[str], bool] = lambda driver: True
    errors: dict[str, int] = field(default_factory=dict)
    writes: list[tuple[str, str]] = field(default_factory=list)
    override: str = ""
    _at_work: bool = False
    _open: Callable[..., int] = os.open
    _write: Callable[[int, bytes], int] = os.write

    def open(self, path: os.PathLike[str] | str, flags: int, mode: int = 0o777, **options: Any) -> int:
        if self._at_work:
            return self._open(path, flags, mode, **options)
        for name, number in self.errors.items():
            if str(path).endswith(name) and flags & (os.O_WRONLY | os.O_RDWR):
                raise OSError(number, os.strerror(number), path)
        return self._open(path, flags, mode, **options)

    def write(self, file: int, data: bytes) -> int:
        if self._at_work:
            return self._write(file, data)  # the host's own tree
        path = Path(os.readlink(f"/proc/self/fd/{file}"))  # noqa: PTH115 - no path of a file
        name = path.name
        text = data.decode()
        self.writes.append((name, text))
        if name == "unbind":
            self.changes(lambda: self.laid.rebind(text, None))
        elif name == "driver_override":
            self.override = text.strip()
            self.changes(lambda: path.write_text(f"{self.override or '(null)'}\n", encoding="utf-8"))
        elif name == "drivers_probe" and self.override and self.takes(self.override):
            self.changes(lambda: self.laid.rebind(text, self.override))
        return len(data)

    def changes(self, change: Callable[[], object]) -> None:
        """Change the host behind everybody's back."""
        self._at_work = True
        change()
        self._at_work = False

    @property
    def driver(self) -> str | None:
        return self.laid.function(VF).driver

    def function(self) -> PciFunction:
        """The VF as it is read now."""
        return SysfsHostReader(self.laid.root).read().functions[PciAddress.parse(VF)]

    @property
    def control(self) -> SysfsFunctionControl:
        return SysfsFunctionControl(self.laid.root)

    def bind(self, driver: str) -> None:
        self.control.bind(self.function(), driver)

    def refused(self, driver: str) -> str:
        with pytest.raises(FunctionRefused) as caught:
            self.bind(driver)
        return str(caught.value)


Play = Callable[[SimHost], Kernel]


@pytest.fixture
def play(mocker: MockerFixture) -> Iterator[Play]:
    with temporary_directory() as root:

        def played(host: SimHost) -> Kernel:
            laid = host.lay(root)
            laid.tree.text("sys/bus/pci/drivers_probe", "")
            for driver in ("iavf", "vfio-pci"):
                laid.tree.text(f"sys/bus/pci/drivers/{driver}/unbind", "")
            kernel = Kernel(laid)
            mocker.patch("adapters.sysfs.function_control.os.open", kernel.open)
            mocker.patch("adapters.sysfs.function_control.os.write", kernel.write)
            return kernel

        yield played
        mocker.stopall()


def test_a_function_is_unbound_and_bound_to_another_driver_and_free_for_the_kernels_choice_again(play: Play) -> None:
    """Case E12 (b)."""
    kernel = play(h2())

    kernel.bind("iavf")

    assert kernel.driver == "iavf"
    assert kernel.override == ""
    assert kernel.writes == [
        ("unbind", VF),
        ("driver_override", "iavf"),
        ("drivers_probe", VF),
        ("driver_override", "\n"),
    ]


def test_a_function_without_a_driver_is_bound(play: Play) -> None:
    kernel = play(h2())
    kernel.changes(lambda: kernel.laid.rebind(VF, None))

    kernel.bind("iavf")

    assert kernel.driver == "iavf"
    assert "unbind" not in dict(kernel.writes)


def test_a_driver_that_does_not_take_it_is_refused_and_the_one_before_is_back(play: Play) -> None:
    """Case E12 (b): rolled back."""
    kernel = play(h2())
    kernel.takes = lambda driver: driver == "vfio-pci"

    assert kernel.refused("iavf") == f"{VF}: bind iavf: bound to no driver afterwards"
    assert kernel.driver == "vfio-pci"


def test_a_failed_attempt_on_a_function_without_a_driver_leaves_no_override(play: Play) -> None:
    """Or the kernel would give it to no other driver from then on."""
    kernel = play(h2())
    kernel.changes(lambda: kernel.laid.rebind(VF, None))
    kernel.takes = lambda driver: False

    assert "bound to no driver afterwards" in kernel.refused("iavf")
    assert kernel.override == ""


@pytest.mark.parametrize("before", ["(null)\n", "vfio-pci\n"])
def test_after_a_rollback_the_override_is_what_it_was(before: str, play: Play) -> None:
    kernel = play(h2())
    kernel.takes = lambda driver: driver == "vfio-pci"
    path = f"sys/bus/pci/devices/{VF}/driver_override"
    kernel.changes(lambda: (kernel.laid.root / path).write_text(before, encoding="utf-8"))

    kernel.refused("iavf")

    assert kernel.driver == "vfio-pci"
    assert kernel.override == before.strip().replace("(null)", "")


def test_a_rollback_that_fails_too_is_told(play: Play) -> None:
    kernel = play(h2())
    kernel.takes = lambda driver: False

    assert "bind vfio-pci: bound to no driver afterwards" in kernel.refused("iavf")


@pytest.mark.parametrize(
    ("file", "number", "said"),
    [
        ("vfio-pci/unbind", EROFS, "unbind vfio-pci"),
        ("driver_override", EROFS, "driver_override"),
        ("drivers_probe", EACCES, "drivers_probe"),
    ],
)
def test_a_file_that_cannot_be_written_is_named(file: str, number: int, said: str, play: Play) -> None:
    """An unprivileged container's /sys is read-only."""
    kernel = play(h2())
    kernel.errors = {file: number}

    text = kernel.refused("iavf")

    assert said in text
    assert os.strerror(number) in text
    if file == "vfio-pci/unbind":
        assert (kernel.driver, kernel.writes) == ("vfio-pci", [])


@pytest.mark.parametrize("file", ["driver_override", "drivers_probe"])
def test_a_function_that_could_not_be_bound_again_is_not_unbound(file: str, play: Play, mocker: MockerFixture) -> None:
    access = os.access
    mocker.patch("os.access", lambda path, mode: not str(path).endswith(file) and access(path, mode))
    kernel = play(h2())

    assert f"{file}: not writable" in kernel.refused("iavf")
    assert (kernel.driver, kernel.writes) == ("vfio-pci", [])


@pytest.mark.parametrize(("number", "said"), [(EBUSY, "somebody has it open"), (EACCES, "cannot tell")])
def test_a_function_whose_vfio_group_may_be_open_is_not_touched(number: int, said: str, play: Play) -> None:
    """Case E12 (b)."""
    kernel = play(h2())
    kernel.errors = {"/dev/vfio/102": number}

    assert said in kernel.refused("iavf")
    assert (kernel.driver, kernel.writes) == ("vfio-pci", [])


def test_an_open_group_is_noticed_on_kernels_that_show_no_vfio_device_too(play: Play) -> None:
    """The directory vfio-dev exists from Linux 6.1 on."""
    kernel = play(h2())
    kernel.laid.tree.delete(f"{kernel.laid.function(VF).path}/vfio-dev")
    kernel.errors = {"/dev/vfio/102": EBUSY}

    assert "somebody has it open" in kernel.refused("iavf")
    assert (kernel.driver, kernel.writes) == ("vfio-pci", [])


def test_the_group_of_a_host_without_an_iommu_is_asked_under_its_own_name(play: Play) -> None:
    host = SimHost(noiommu=True)
    host.vfs(host.pf("0000:3b:00.0", netdevs=["ens1f0"], iommu_group=None), 2, driver="vfio-pci")
    kernel = play(host)
    assert kernel.function().noiommu
    kernel.errors = {f"/dev/vfio/noiommu-{kernel.function().iommu_group}": EBUSY}

    assert "somebody has it open" in kernel.refused("iavf")


def test_a_group_of_the_kernels_own_drivers_is_nobodys(play: Play) -> None:
    """An iommu_group without a node."""
    kernel = play(h1())

    kernel.bind("vfio-pci")

    assert kernel.driver == "vfio-pci"


def test_a_reset_is_a_one_in_its_file(play: Play) -> None:
    """Case E12 (a)."""
    kernel = play(h2())

    SysfsFunctionControl(kernel.laid.root).reset(kernel.function())

    assert kernel.writes == [("reset", "1")]


def test_what_somebody_has_open_is_not_reset(play: Play) -> None:
    """Case E12."""
    kernel = play(h2())
    kernel.errors = {f"vfio/{kernel.function().iommu_group}": EBUSY}

    with pytest.raises(FunctionRefused, match=r"reset: somebody has .* open"):
        kernel.control.reset(kernel.function())
    assert kernel.writes == []


def test_what_a_pod_has_is_not_reset(play: Play) -> None:
    """Case E12."""
    kernel = play(h1())
    kernel.laid.move_netdev_to_pod(VF)

    with pytest.raises(FunctionRefused, match="reset: its interface is in another network namespace"):
        kernel.control.reset(kernel.function())
    assert kernel.writes == []


@pytest.mark.parametrize(("number", "may"), [(EBUSY, True), (EACCES, True), (0, False)])
def test_a_group_that_does_not_open_may_be_open_elsewhere(number: int, may: bool, play: Play) -> None:
    kernel = play(h2())
    kernel.errors = {f"vfio/{kernel.function().iommu_group}": number} if number else {}

    assert kernel.control.may_be_open(kernel.function()) is may


def test_a_function_that_vfio_has_nothing_to_do_with_may_be_in_use(play: Play) -> None:
    kernel = play(h1())

    assert kernel.control.may_be_open(kernel.function())


@pytest.mark.parametrize("number", [ENODEV, EIO, EROFS], ids=lambda number: errorcode[number])
def test_a_reset_that_fails_names_function_file_and_reason(number: int, play: Play) -> None:
    """Case E12 (a)."""
    kernel = play(h2())
    kernel.errors = {"/reset": number}

    with pytest.raises(FunctionRefused, match=rf"{VF}: reset: .*/{VF}/reset: {os.strerror(number)}"):
        SysfsFunctionControl(kernel.laid.root).reset(kernel.function())
