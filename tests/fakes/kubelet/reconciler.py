"""From the sockets that ought to be registered to those that are: pm/reconciler, pm/operationexecutor.

One operation at a time for a path; after a failure the path rests, for 0.5 s, then twice as long
each time, whatever is asked of it next.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.fakes.kubelet.plugin_registration import OperationFailed, PluginRegistration, Registered
from tests.fakes.kubelet.setting import Setting
from tests.fakes.kubelet.tasks import Tasks
from tests.fakes.kubelet.watcher import Watcher

_Operation = Callable[[], Coroutine[None, None, None]]
"""One that is not begun leaves no coroutine behind that nobody awaits."""


@dataclass(eq=False, slots=True)
class _Rest:
    """The state of a path that is being worked on or failed last time."""

    busy: bool = True
    failed_at: float = 0.0
    pause: float = 0.0


class Reconciler:
    def __init__(self, watcher: Watcher, registration: PluginRegistration, tasks: Tasks, setting: Setting) -> None:
        self._watcher = watcher
        self._registration = registration
        self._tasks = tasks
        self._timing = setting.timing
        self._journal = setting.journal
        self._rests: dict[Path, _Rest] = {}

    async def run(self) -> None:
        while True:
            self._pass()
            await asyncio.sleep(self._timing.reconcile)

    def _pass(self) -> None:
        wanted, actual = self._watcher.wanted, self._registration.actual
        for path, registered in list(actual.items()):
            if wanted.get(path) != registered.mark:
                self._begin(path, partial(self._unregister, registered))
        for path, mark in wanted.items():
            if path not in actual or actual[path].mark != mark:
                self._begin(path, partial(self._registration.register, path, mark))

    async def _unregister(self, registered: Registered) -> None:
        self._registration.unregister(registered)

    def _begin(self, path: Path, operation: _Operation) -> None:
        rest = self._rests.setdefault(path, _Rest(busy=False))
        now = asyncio.get_running_loop().time()
        if rest.busy or (rest.pause and now - rest.failed_at <= rest.pause):
            return
        rest.busy = True
        self._tasks.background(self._operate(path, rest, operation), f"plugin {path.name}")

    async def _operate(self, path: Path, rest: _Rest, operation: _Operation) -> None:
        try:
            await operation()
        except OperationFailed as failure:
            timing = self._timing
            rest.busy = False
            rest.pause = min(2 * rest.pause or timing.backoff_first, timing.backoff_most)
            rest.failed_at = asyncio.get_running_loop().time()
            self._journal.note(f"{failure}; {path} rests for {rest.pause} s")
        else:
            del self._rests[path]
