"""What the kubelet ought to know: from the description of the host, the good configuration and what pods hold.

The product's own rules are not asked; these are written anew from the words of the documentation.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from tests.hosts.function import Function
from tests.hosts.laid import LaidHost
from tests.model.pools import Pool, Pools

Hold = tuple[str, str]
"""A resource and the id of one of its devices."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A device as a list shows it."""

    healthy: bool
    nodes: tuple[int, ...] | None = None
    """NUMA nodes; None where the model does not mind."""


Lists = Mapping[str, Mapping[str, Listed]]


def expected(host: LaidHost, pools: Pools, held: Collection[Hold]) -> Lists:
    """The list of each resource, by id; a resource that is not among them is not served.

    *held* are devices in the hands of pods. One whose pool is gone from the configuration stays in that, Unhealthy, and
    nobody else is offered it; also if the pool was gone when the daemon started.
    """
    offered = dict(_offered(host, pools))
    here = {(pool.resource, bdf) for bdf, (pool, _) in offered.items()}
    away = {bdf for resource, bdf in held if (resource, bdf) not in here}
    staying = {hold for hold in held if hold not in here}
    lists: dict[str, dict[str, Listed]] = {pool.resource: {} for pool in pools}
    for bdf, (pool, listed) in offered.items():
        if bdf not in away:
            lists[pool.resource][bdf] = listed
    for resource, bdf in staying:
        lists.setdefault(resource, {})[bdf] = Listed(healthy=False)
    return lists


def usable(host: LaidHost, function: Function) -> bool:
    """Whether any pool may have it: it has a driver, no VFs, and the host does not need it."""
    if function.driver is None or vf_count(host, function):
        return False
    routed = {route.interface for route in host.description.routes}
    return not routed.intersection(netdev.name for netdev in function.netdevs)


def vf_count(host: LaidHost, function: Function) -> int:
    """What the PF says; VFs that were unplugged one by one are still counted."""
    if function.sriov is None:
        return 0
    return max(len(function.vfs), int(host.tree.read(f"{function.path}/sriov_numvfs")))


def _offered(host: LaidHost, pools: Pools) -> Iterator[tuple[str, tuple[Pool, Listed]]]:
    for bdf, function in host.description.functions.items():
        if usable(host, function) and (pool := next((p for p in pools if p.kind.takes(function)), None)):
            nodes = () if not pool.kind.tells_topology or function.numa is None else (function.numa,)
            yield bdf, (pool, Listed(not pool.kind.minds_link or _link_is_up(function), nodes))


def _link_is_up(function: Function) -> bool:
    """The PF's link; one that nobody can see is taken to be up."""
    port = next(iter((function.physfn or function).netdevs), None)
    return port is None or (port.up and port.carrier)
