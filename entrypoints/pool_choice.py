"""The pool that a person means."""

from collections.abc import Sequence

from domain.errors import SriovError
from domain.pool import PoolSpec


class UnknownPool(SriovError):
    """A name that no pool has."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"no pool {name}: there are {', '.join(known) or 'none'}")


class AmbiguousPool(SriovError):
    """A name without prefix that several pools have."""

    def __init__(self, name: str, meant: Sequence[str]) -> None:
        super().__init__(f"several pools are called {name}: {', '.join(meant)}: give the full name")


def choose_pool(pools: Sequence[PoolSpec], name: str) -> PoolSpec:
    """The pool of a name with or without prefix.

    Raises:
        UnknownPool: if there is none.
        AmbiguousPool: if there are several.
    """
    found = [pool for pool in pools if name in (str(pool.name), pool.name.name)]
    if not found:
        raise UnknownPool(name, [str(pool.name) for pool in pools])
    if len(found) > 1:
        raise AmbiguousPool(name, [str(pool.name) for pool in found])
    return found[0]
