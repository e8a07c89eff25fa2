"""Changes of the host, as an administrator, the kernel or a CNI plugin makes them."""

from typing import Final

from tests.hosts.function import WITHOUT_NETDEV
from tests.model.actions.action import Action, AnyAction
from tests.model.expectation import vf_count
from tests.model.node import Node
from tests.model.setup import MOST_VFS, PFS

_PF_DRIVERS: Final = ("ice", "vfio-pci", None)
_VF_DRIVERS: Final = ("iavf", "vfio-pci", None)
_GATEWAYS: Final = ("10.0.0.1", "fe80::1")


def _creatable(node: Node) -> list[tuple[str, int, str]]:
    functions = node.host.description.functions.values()
    pfs = [f.bdf for f in functions if f.sriov and f.driver == "ice" and not vf_count(node.host, f)]
    return [(pf, n, driver) for pf in pfs for n in range(1, MOST_VFS + 1) for driver in ("iavf", "vfio-pci")]


async def _create(node: Node, choice: tuple[str, int, str]) -> None:
    pf, number, driver = choice
    node.host.create_vfs(pf, number, driver=driver)


def _removable(node: Node) -> list[str]:
    return [f.bdf for f in node.host.description.functions.values() if vf_count(node.host, f)]


async def _remove(node: Node, pf: str) -> None:
    node.host.remove_vfs(pf)


def _rebindable(node: Node) -> list[tuple[str, str | None]]:
    ways = []
    for function in node.host.description.functions.values():
        if not vf_count(node.host, function):
            drivers = _PF_DRIVERS if function.sriov else _VF_DRIVERS
            ways += [(function.bdf, driver) for driver in drivers if driver != function.driver]
    return ways


async def _rebind(node: Node, choice: tuple[str, str | None]) -> None:
    node.host.rebind(*choice)


def _pluggable(node: Node) -> list[tuple[str, str, int]]:
    return [pf for pf in PFS if pf[0] not in node.host.description.functions]


async def _plug(node: Node, choice: tuple[str, str, int]) -> None:
    bdf, name, numa = choice
    node.host.add(node.host.description.pf(bdf, netdevs=[name], numa=numa, totalvfs=MOST_VFS))


def _functions(node: Node) -> list[str]:
    return sorted(node.host.description.functions, reverse=True)


async def _unplug(node: Node, bdf: str) -> None:
    node.host.remove_function(bdf)


def _movable(node: Node) -> list[str]:
    """Whoever has an interface and no VFs: a PF's VFs would lose the name of their PF."""
    functions = node.host.description.functions.values()
    return [f.bdf for f in functions if f.netdevs and not vf_count(node.host, f)]


async def _move(node: Node, bdf: str) -> None:
    node.host.move_netdev_to_pod(bdf)


def _returnable(node: Node) -> list[str]:
    return [f.bdf for f in node.host.description.functions.values() if f.left_for_pod]


async def _give_back(node: Node, bdf: str) -> None:
    node.host.return_netdev(bdf)


def _links(node: Node) -> list[tuple[str, bool]]:
    ports = [n for f in node.host.description.functions.values() if f.sriov for n in f.netdevs]
    return [(port.name, not port.carrier) for port in ports]


async def _carrier(node: Node, choice: tuple[str, bool]) -> None:
    node.host.set_carrier(*choice)


def _routable(node: Node) -> list[tuple[str, str]]:
    routed = {route.interface for route in node.host.description.routes}
    functions = [f for f in node.host.description.functions.values() if f.driver not in WITHOUT_NETDEV]
    free = [n.name for f in functions for n in f.netdevs if n.name not in routed]
    return [(name, gateway) for name in free for gateway in _GATEWAYS]


async def _route(node: Node, choice: tuple[str, str]) -> None:
    node.host.uses.add_default_route(*choice)


def _routed(node: Node) -> list[str]:
    return sorted({route.interface for route in node.host.description.routes})


async def _unroute(node: Node, interface: str) -> None:
    node.host.uses.drop_routes(interface)


CREATE_VFS: Final = Action("create VFs", _creatable, _create, 2)
REMOVE_VFS: Final = Action("remove VFs", _removable, _remove)
REBIND: Final = Action("rebind", _rebindable, _rebind, 3)
PLUG: Final = Action("plug in a PF", _pluggable, _plug, 2)
UNPLUG: Final = Action("unplug", _functions, _unplug)
MOVE_NETDEV: Final = Action("move interfaces to a pod", _movable, _move, 2)
RETURN_NETDEV: Final = Action("bring interfaces back", _returnable, _give_back, 2)
CARRIER: Final = Action("carrier", _links, _carrier, 2)
ADD_ROUTE: Final = Action("add a default route", _routable, _route)
DROP_ROUTE: Final = Action("drop default routes", _routed, _unroute, 2)

ACTIONS: Final[tuple[AnyAction, ...]] = (
    CREATE_VFS,
    REMOVE_VFS,
    REBIND,
    PLUG,
    UNPLUG,
    MOVE_NETDEV,
    RETURN_NETDEV,
    CARRIER,
    ADD_ROUTE,
    DROP_ROUTE,
)
