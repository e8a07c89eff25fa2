"""Why a device is, or is not, in a pool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from application.ports.host_reader import HostReader
from domain.advice import Advice, advise
from domain.assignment import Trail, assign, explain
from domain.pool import PoolSpec


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything a person may ask of a host and a configuration."""

    trails: tuple[Trail, ...]
    unreadable: Mapping[str, str]
    advice: tuple[Advice, ...]


class Explain:
    """Answers from the same rules by which devices are assigned, on the host as it is now."""

    def __init__(self, pools: Sequence[PoolSpec], reader: HostReader) -> None:
        self._pools = pools
        self._reader = reader

    def __call__(self) -> Explanation:
        host = self._reader.read()
        advice = advise(host, self._pools, assign(host, self._pools))
        return Explanation(explain(host, self._pools), host.unreadable, advice)
