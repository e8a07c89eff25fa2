"""Whether a device looks as if a container had it, for when what is known of its pod is old."""

from application.ports.function_control import FunctionControl
from domain.device import find_device
from domain.host import Host


class SignsOfUse:
    """Looks at the host. Blocks."""

    def __init__(self, control: FunctionControl) -> None:
        self._control = control

    def of(self, host: Host, device_id: str) -> bool:
        """Whether a device may be in use; only one that shows that it is free is not.

        An interface at home is in no pod, and a vfio group that opens was open nowhere else.
        """
        device = find_device(host, device_id, uses={})
        if device is None:
            return True
        if (device.subfunction or device.function).interfaces:
            return False
        return device.subfunction is not None or self._control.may_be_open(device.function)
