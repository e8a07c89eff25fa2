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

    async def do(self, node: Node, number: int) -> None:
        """Do it in one of the ways, if there is any."""
        choices = self.choices(node)
        if not choices:
            return
        choice = choices[number % len(choices)]
        node.tell(f"{self.name}: {choice!r}")
        node.was_settled, node.settled = node.settled, False
        await self.perform(node, choice)


AnyAction = Action[Any]


def needs_kubelet(perform: Callable[[Node, T], Awaitable[None]]) -> Callable[[Node, T], Awaitable[None]]:
    """Wait for a kubelet that is being restarted first."""

    async def performed(node: Node, choice: T) -> None:
        await node.restarted()
        await perform(node, choice)

    return performed
