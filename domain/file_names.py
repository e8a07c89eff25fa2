"""How long the names of a pool's files can become."""

from typing import Final

from domain.cdi import cdi_file_name
from domain.device_info import device_info_file_name
from domain.pool import DeviceType
from domain.resource_name import ResourceName

MOST_CHARACTERS: Final = 255
"""NAME_MAX of Linux's file systems, in bytes; the names here are ASCII."""
# PCI domains have at most 32 bits. Module and kind of an auxiliary device have 40 bytes together, with a final NUL
# (AUXILIARY_NAME_SIZE of the kernel); its number has 32 bits.
_LONGEST_FUNCTION: Final = "ffffffff:ff:1f.7"
_LONGEST_SUBFUNCTION: Final = f"{'m' * 36}.sf.{2**32 - 1}"


def longest_file_name(resource: ResourceName, device_type: DeviceType) -> str:
    """The longest name that a file of this pool can get, with the longest id that its kind of devices can have.

    Sockets do not count: their names are cut to what a socket's path may have.
    """
    of_pool = cdi_file_name(resource, device_type)
    if device_type is DeviceType.ACCELERATOR:
        return of_pool
    longest = _LONGEST_SUBFUNCTION if device_type is DeviceType.AUX_NET_DEVICE else _LONGEST_FUNCTION
    return max(of_pool, device_info_file_name(str(resource), longest), key=len)
