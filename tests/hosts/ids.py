"""What a PCI function says it is: vendor, device, class and subsystem."""

from dataclasses import dataclass
from typing import Final

NETWORK: Final = "020000"
ACCELERATOR: Final = "120001"
BRIDGE: Final = "060400"


@dataclass(frozen=True, slots=True)
class PciIds:
    """The ids of one function, in lower-case hex without ``0x``."""

    vendor: str
    device: str
    class_code: str = NETWORK
    subsystem: tuple[str, str] = ("8086", "0000")

    def attributes(self) -> dict[str, str]:
        return {
            "vendor": f"0x{self.vendor}",
            "device": f"0x{self.device}",
            "class": f"0x{self.class_code}",
            "revision": "0x01",
            "subsystem_vendor": f"0x{self.subsystem[0]}",
            "subsystem_device": f"0x{self.subsystem[1]}",
            "modalias": self._modalias(),
        }

    def uevent(self, bdf: str, driver: str | None) -> str:
        lines = [f"DRIVER={driver}"] if driver else []
        lines += [
            f"PCI_CLASS={self.class_code.lstrip('0').upper()}",
            f"PCI_ID={self.vendor}:{self.device}".upper(),
            f"PCI_SUBSYS_ID={self.subsystem[0]}:{self.subsystem[1]}".upper(),
            f"PCI_SLOT_NAME={bdf}",
            f"MODALIAS={self._modalias()}",
        ]
        return "\n".join(lines)

    def _modalias(self) -> str:
        code = self.class_code
        return (
            f"pci:v0000{self.vendor.upper()}d0000{self.device.upper()}"
            f"sv0000{self.subsystem[0].upper()}sd0000{self.subsystem[1].upper()}"
            f"bc{code[:2].upper()}sc{code[2:4].upper()}i{code[4:].upper()}"
        )
