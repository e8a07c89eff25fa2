"""A kubelet as a device plugin meets it, faithful to facts/kubelet.md, in one event loop."""

from tests.fakes.kubelet.journal import Call, Received
from tests.fakes.kubelet.kubelet import FakeKubelet
from tests.fakes.kubelet.panic import KubeletPanic
from tests.fakes.kubelet.pods import Container
from tests.fakes.kubelet.release import RELEASES
from tests.fakes.kubelet.reports import Admission, ContainerStart
from tests.fakes.kubelet.tasks import ProcessDied
from tests.fakes.kubelet.timing import EAGER, Timing

__all__ = [
    "EAGER",
    "RELEASES",
    "Admission",
    "Call",
    "Container",
    "ContainerStart",
    "FakeKubelet",
    "KubeletPanic",
    "ProcessDied",
    "Received",
    "Timing",
]
