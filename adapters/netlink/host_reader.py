"""A host with what netlink adds to another reader's facts (port HostReader)."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from adapters.files.shortage import check_shortage
from application.ports.host_reader import HostReader
from application.ports.journal import Journal
from domain.errors import InvalidPciAddress
from domain.facility_selectors import DdpProfiles
from domain.host import Host, PciFunction
from domain.pci import PciAddress
from domain.pf_selectors import PfNames
from domain.pool import PoolSpec

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Questions:
    """What to ask netlink for; each is one question, whatever the number of devices."""

    ddp_profiles: Callable[[], Mapping[PciAddress, str]]
    alternative_names: Callable[[], Mapping[str, tuple[str, ...]]]


class NetlinkHostReader:
    """Asks for DDP packages if any pool selects by them, and for alternative names if a PF name is no first name.

    Where netlink gives no answer that is said once, and the facts are those of the other reader.
    """

    def __init__(
        self,
        reader: HostReader,
        questions: Questions,
        pools: Callable[[], Collection[PoolSpec]],
        journal: Journal,
    ) -> None:
        self._reader = reader
        self._questions = questions
        self._pools = pools
        self._journal = journal
        self._said: set[str] = set()

    def read(self) -> Host:
        host = self._reader.read()
        conditions = [condition for pool in self._pools() for condition in pool.conditions]
        by_name = [condition for condition in conditions if isinstance(condition, PfNames)]
        functions = dict(host.functions)
        if any(isinstance(s, DdpProfiles) for s in conditions):
            profiles = self._ask(self._questions.ddp_profiles, "ddpProfiles match nothing") or {}
            for address in functions.keys() & profiles.keys():
                functions[address] = replace(functions[address], ddp_profile=profiles[address])
        known = {i.name.lower() for function in functions.values() for i in function.interfaces}
        if any(condition.patterns or not condition.ranges.keys() <= known for condition in by_name):
            names = self._ask(self._questions.alternative_names, "pfNames know no alternative names") or {}
            functions = {address: _named(function, names) for address, function in functions.items()}
        return replace(host, functions=functions)

    def reread(self, host: Host, ids: Collection[str]) -> Host:
        fresh = self._reader.reread(host, ids)
        functions = dict(fresh.functions)
        for id_ in ids:
            try:
                address = PciAddress.parse(id_)
            except InvalidPciAddress:
                continue
            known = host.functions.get(address)
            if known and known.ddp_profile and address in functions:
                functions[address] = replace(functions[address], ddp_profile=known.ddp_profile)
        return replace(fresh, functions=functions)

    def _ask(self, question: Callable[[], Answer], consequence: str) -> Answer | None:
        try:
            return question()
        except OSError as error:
            check_shortage(error)
            self._tell(error, consequence)
        except Exception as error:  # noqa: BLE001 - pyroute2 raises what it meets; the host is served all the same
            self._tell(error, consequence)
        return None

    def _tell(self, error: Exception, consequence: str) -> None:
        if consequence not in self._said:
            self._said.add(consequence)
            self._journal.warning("netlink gives no answer", reason=f"{error!r}", consequence=consequence)


def _named(function: PciFunction, names: Mapping[str, tuple[str, ...]]) -> PciFunction:
    if not any(interface.name in names for interface in function.interfaces):
        return function
    interfaces = (replace(i, alternative_names=names.get(i.name, ())) for i in function.interfaces)
    return replace(function, interfaces=tuple(interfaces))
