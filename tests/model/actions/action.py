"""One kind of change."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tests.model.node import Node

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Action(Generic[T]):
    """Something that can be done in as many ways as there are choices now."""

    name: str
    choices: Callable[[Node], Sequence[T]]
    perform: Callable[[Node, T], Awaitable[None]]
    weight: float = 1.0
    """How often it is done in a soak, compared with others."""
    steady: bool = True
    """What choices there are follows from what was done, not from how far the daemon has come meanwhile."""

    needs_kubelet: bool = False
    """A kubelet that is being restarted is waited for."""

    async def do(self, node: Node, number: int) -> None:
        """Do it in one of the ways, if there is any."""
        if self.needs_kubelet:
            await node.restarted()
        node.was_settled, node.settled = node.settled, False  # in any case: what is possible next depends on it
        choices = self.choices(node)
        if not choices:
            return
        choice = choices[number % len(choices)]
        node.tell(f"{self.name}: {choice!r}")
        await self.perform(node, choice)


AnyAction = Action[Any]
