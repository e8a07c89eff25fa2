"""Why a pool is not served yet, said once."""

from tenacity import RetryCallState

from adapters.kubelet.kubelet_socket import KubeletAbsent
from adapters.kubelet.succession import PoolLeft
from application.ports.journal import Journal
from domain.resource_name import ResourceName


class TellOnce:
    """Logs why a pool is not served yet, again only when the reason changes."""

    def __init__(self, resource: ResourceName, journal: Journal) -> None:
        self._resource = resource
        self._journal = journal
        self._said = ""

    def __call__(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        if str(error) != self._said:
            self._said = str(error)
            tell = self._journal.info if isinstance(error, KubeletAbsent | PoolLeft) else self._journal.warning
            tell("not served yet", resource=str(self._resource), reason=self._said)
