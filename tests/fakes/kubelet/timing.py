"""How long a kubelet waits for what: the real numbers, to be shortened by a test.

Sources: dm/plugin/v1beta1/client.go (dial), pm/operationexecutor/operation_generator.go (GetInfo,
Notify), pm/plugin_manager.go (reconcile), goroutinemap/exponentialbackoff (back-off),
dm/types.go (grace), deviceplugin constants.go (PreStartContainer).
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds, throughout."""

    dial: float = 10.0
    redial: float = 1.0  # first pause between two attempts of one dial; gRPC grows it by 1.6
    get_info: float = 1.0
    notify: float = 5.0
    reconcile: float = 1.0
    backoff_first: float = 0.5
    backoff_most: float = 122.0
    node_tick: float = 10.0
    grace: float = 300.0
    pre_start: float = 30.0
    accept_delay: float = 0.02  # between kubelet.sock's appearance and its listen()
    clean_up_delay: float = 0.0  # between a new kubelet's start and its clean-up of device-plugins


#: For tests in which time is no subject: sockets are looked at often; all limits are those of a kubelet.
EAGER: Final = Timing(reconcile=0.02)
