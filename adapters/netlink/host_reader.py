"""A host with what netlink adds to another reader's facts (port HostReader)."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from adapters.netlink.question import Question
from application.ports.host_reader import HostReader
from application.ports.journal import Journal
from domain.errors import InvalidPciAddress
from domain.facility_selectors import DdpProfiles
from domain.host import Host, PciFunction
from domain.pci import PciAddress
from domain.pf_selectors import PfNames
from domain.pool import PoolSpec


@dataclass(frozen=True, slots=True)
class Questions:
    """What to ask netlink for; each is one question, whatever the number of devices."""

    ddp_profiles: Callable[[], Mapping[PciAddress, str]]
    alternative_names: Callable[[], Mapping[str, tuple[str, ...]]]


class NetlinkHostReader:
    """Asks for DDP packages if any pool selects by them, and for alternative names if a PF name is no first name.

    While netlink gives no answer its last one counts; where it never gave one, the facts are those of the other reader.
    """

    def __init__(
        self,
        reader: HostReader,
        questions: Questions,
        pools: Callable[[], Collection[PoolSpec]],
        journal: Journal,
    ) -> None:
        self._reader = reader
        self._ddp_profiles = Question(questions.ddp_profiles, "ddpProfiles", journal)
        self._alternative_names = Question(questions.alternative_names, "alternative names in pfNames", journal)
        self._pools = pools

    def read(self) -> Host:
        host = self._reader.read()
        conditions = [condition for pool in self._pools() for condition in pool.conditions]
        by_name = [condition for condition in conditions if isinstance(condition, PfNames)]
        functions = dict(host.functions)
        if any(isinstance(s, DdpProfiles) for s in conditions):
            profiles = self._ddp_profiles.ask()
            for address in functions.keys() & profiles.keys():
                functions[address] = replace(functions[address], ddp_profile=profiles[address])
        known = {i.name.lower() for function in functions.values() for i in function.interfaces}
        if any(condition.patterns or not condition.ranges.keys() <= known for condition in by_name):
            names = self._alternative_names.ask()
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


def _named(function: PciFunction, names: Mapping[str, tuple[str, ...]]) -> PciFunction:
    if not any(interface.name in names for interface in function.interfaces):
        return function
    interfaces = (replace(i, alternative_names=names.get(i.name, ())) for i in function.interfaces)
    return replace(function, interfaces=tuple(interfaces))
