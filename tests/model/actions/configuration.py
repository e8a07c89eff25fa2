"""Edits of the configuration, good and bad ones."""

from typing import Final

from tests.model.actions.action import Action, AnyAction
from tests.model.config_file import BREAKAGES
from tests.model.node import Node
from tests.model.pools import KINDS, NAMES, Pool, Pools


def _free_names(node: Node) -> list[str]:
    used = {pool.resource for pool in node.config.pools}
    return [name for name in NAMES if name not in used]


def _longer(node: Node) -> list[Pools]:
    pools, names = node.config.pools, _free_names(node)
    fresh = [Pool(name, kind) for name in names for kind in KINDS]
    return [(pool, *pools) for pool in fresh] + [(*pools, pool) for pool in fresh]


def _shorter(node: Node) -> list[Pools]:
    pools = node.config.pools
    return [pools[:i] + pools[i + 1 :] for i in range(len(pools))]


def _reordered(node: Node) -> list[Pools]:
    pools = node.config.pools
    return [(*pools[:i], pools[i + 1], pools[i], *pools[i + 2 :]) for i in range(len(pools) - 1)]


def _renamed(node: Node) -> list[Pools]:
    pools = node.config.pools
    return [
        (*pools[:i], Pool(name, pools[i].kind), *pools[i + 1 :])
        for name in _free_names(node)
        for i in range(len(pools))
    ]


def _redefined(node: Node) -> list[Pools]:
    pools = node.config.pools
    return [
        (*pools[:i], Pool(pools[i].resource, kind), *pools[i + 1 :])
        for i in range(len(pools))
        for kind in KINDS
        if kind is not pools[i].kind
    ]


async def _write(node: Node, pools: Pools) -> None:
    node.config.write(pools)
    if node.daemon.running:
        node.served = pools


def _breakable(node: Node) -> tuple[str, ...]:
    """Only while the daemon is in order: else nobody knows which pools it will have read before."""
    return BREAKAGES if node.settled and not node.config.breakage else ()


async def _break(node: Node, breakage: str) -> None:
    await node.daemon.noticed()  # an edit may have changed nothing that the kubelet could tell
    node.config.spoil(breakage)


def _mendable(node: Node) -> list[Pools]:
    return [node.config.pools] if node.config.breakage else []


ADD_POOL: Final = Action("add a pool", _longer, _write, 3)
REMOVE_POOL: Final = Action("remove a pool", _shorter, _write)
REORDER_POOLS: Final = Action("reorder pools", _reordered, _write, 2)
RENAME_POOL: Final = Action("rename a pool", _renamed, _write)
REDEFINE_POOL: Final = Action("redefine a pool", _redefined, _write, 2)
BREAK_FILE: Final = Action("break the configuration", _breakable, _break)
MEND_FILE: Final = Action("mend the configuration", _mendable, _write, 4)

ACTIONS: Final[tuple[AnyAction, ...]] = (
    ADD_POOL,
    REMOVE_POOL,
    REORDER_POOLS,
    RENAME_POOL,
    REDEFINE_POOL,
    BREAK_FILE,
    MEND_FILE,
)
