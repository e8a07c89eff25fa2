"""A node as a state machine for hypothesis."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.hosts.ground import temporary_directory
from tests.model.actions import configuration, host, pods, process, sockets
from tests.model.actions.action import AnyAction
from tests.model.ground import Ground
from tests.model.in_process import InProcessDaemon
from tests.model.node import Node
from tests.model.places import Places
from tests.model.settling import settle, settle_in_the_end
from tests.model.setup import CONFIGURATIONS, SHAPES, VERSIONS, WAYS, Setup

_SETUPS: Final = st.builds(
    Setup,
    shape=st.sampled_from(SHAPES),
    pools=st.sampled_from(CONFIGURATIONS),
    way=st.sampled_from(WAYS),
    version=st.sampled_from(VERSIONS),
    aligned=st.booleans(),
    config_map=st.booleans(),
)
_NUMBERS: Final = st.integers(0, 999)
#: Seconds until the next step; None: until everything is settled.
_PAUSES: Final = st.sampled_from((None, 0.0, 0.002, 0.01))
_GONE_WITHIN: Final = 5.0


def _rule(action: AnyAction) -> Any:
    """A step that does this whenever there is a way to do it.

    Hypothesis wants the same rules after the same steps: where that is not sure, it may turn out to do nothing.
    """

    def step(self: "NodeMachine", n: int, pause: float | None) -> None:
        self.do(action, n, pause)

    step.__name__ = step.__qualname__ = action.name.replace(" ", "_")
    step.__annotations__ = {}  # hypothesis would look them up in this module
    possible = precondition(lambda self: not action.steady or bool(action.choices(self.node)))
    return rule(n=_NUMBERS, pause=_PAUSES)(possible(step))


class NodeMachine(RuleBasedStateMachine):
    """Each example is a node of its own, on the ground that a subclass gives them."""

    ground: ClassVar[Ground]

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        self._whole = False
        self._told: Callable[[], str] = str
        self.node: Node

    @initialize(setup=_SETUPS)
    def begin(self, setup: Setup) -> None:
        self.ground.require_no_failure()
        self._guarded(lambda: self._begin(setup))

    def do(self, action: AnyAction, number: int, pause: float | None) -> None:
        self._guarded(lambda: self._do(action, number, pause))

    create_vfs = _rule(host.CREATE_VFS)
    remove_vfs = _rule(host.REMOVE_VFS)
    rebind = _rule(host.REBIND)
    plug = _rule(host.PLUG)
    unplug = _rule(host.UNPLUG)
    move_netdev = _rule(host.MOVE_NETDEV)
    return_netdev = _rule(host.RETURN_NETDEV)
    carrier = _rule(host.CARRIER)
    add_route = _rule(host.ADD_ROUTE)
    drop_route = _rule(host.DROP_ROUTE)
    admit_pod = _rule(pods.ADMIT_POD)
    admit_another_pod = _rule(pods.ADMIT_POD)
    end_pod = _rule(pods.END_POD)
    restart_container = _rule(pods.RESTART_CONTAINER)
    add_pool = _rule(configuration.ADD_POOL)
    remove_pool = _rule(configuration.REMOVE_POOL)
    reorder_pools = _rule(configuration.REORDER_POOLS)
    rename_pool = _rule(configuration.RENAME_POOL)
    redefine_pool = _rule(configuration.REDEFINE_POOL)
    break_file = _rule(configuration.BREAK_FILE)
    mend_file = _rule(configuration.MEND_FILE)
    restart_kubelet = _rule(sockets.RESTART_KUBELET)
    cut_stream = _rule(sockets.CUT_STREAM)
    remove_socket = _rule(sockets.REMOVE_SOCKET)
    remove_record = _rule(sockets.REMOVE_RECORD)
    stop_daemon = _rule(process.STOP_DAEMON)
    start_daemon = _rule(process.START_DAEMON)
    restart_daemon = _rule(process.RESTART_DAEMON)
    reload = _rule(process.RELOAD)

    def teardown(self) -> None:
        was_whole = self._whole
        try:
            if was_whole:
                self._guarded(self._end)
        finally:
            self._guarded(self._stack.close)
        if was_whole:
            self._guarded(self._nothing_is_left)

    def _guarded(self, step: Callable[[], None]) -> None:
        """After a step that failed there is nothing more to be learnt from this node."""
        self._whole = False
        self.ground.step(step, self._told)
        self._whole = True

    def _begin(self, setup: Setup) -> None:
        run = self.ground.run
        node = Node(self._stack.enter_context(temporary_directory()), setup, self._daemon)
        self.node, self._told = node, node.told
        self._stack.callback(self.ground.clear, node)
        run(node.open())
        run(settle(node))

    def _do(self, action: AnyAction, number: int, pause: float | None) -> None:
        run = self.ground.run
        run(action.do(self.node, number))
        run(settle(self.node) if pause is None else asyncio.sleep(pause))
        self.node.check()

    def _end(self) -> None:
        run = self.ground.run
        self.node.tell("the end")
        if not self.node.daemon.running:
            run(process.start(self.node))
        run(settle_in_the_end(self.node))

    def _nothing_is_left(self) -> None:
        began = monotonic()
        while leftovers := self.ground.leftovers():
            if monotonic() - began > _GONE_WITHIN:
                self.node.fail(*leftovers)
            self.ground.run(asyncio.sleep(0.01))

    def _daemon(self, places: Places, config_file: Path) -> InProcessDaemon:
        return InProcessDaemon(places, config_file)
