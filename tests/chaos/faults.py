"""What can go wrong on a node. Each fault does its harm, and what must be undone for order to come back."""

import asyncio
import resource
import shutil
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, cast

from tests.chaos.clock import SEEN_WITHIN
from tests.chaos.node import Node
from tests.chaos.pods import Pods
from tests.model.actions import configuration, host
from tests.model.actions.action import AnyAction
from tests.model.config_file import BREAKAGES
from tests.model.expectation import vf_count
from tests.model.setup import MOST_VFS, PFS
from tests.soak.usage import open_files

Harm = Callable[[Node, Pods], Awaitable[None]]
_LONGEST_STOP: Final = 20.0


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    part: str
    """Faults of one part are not done at once."""
    harm: Harm
    weight: float = 1.0
    needs_mounts: bool = False
    needs_clock: bool = False

    def possible_on(self, node: Node) -> bool:
        return (node.disk.mounted or not self.needs_mounts) and (node.clock.settable or not self.needs_clock)


# -- the kubelet ----------------------------------------------------------------------------------
async def _restart_kubelet(node: Node, pods: Pods) -> None:
    async with node.locks.kubelet:
        down, settle = node.chance.choice(((0.0, 0.0), (0.1, 0.1), (1.0, 0.3), (3.0, 1.0)))
        await pods.restarted(containers_gone=False, down=down, settle=settle)


async def _reboot(node: Node, pods: Pods) -> None:
    async with node.locks.kubelet:
        await pods.restarted(
            containers_gone=True, down=node.chance.uniform(0, 1), settle=node.chance.choice((0.0, 2.5))
        )


async def _lose_directory(node: Node, pods: Pods) -> None:
    """The directory of the pools' sockets is made anew. No kubelet looks at the new one until it is restarted.

    Its checkpoint, which the classic way's directory has too, stays: without it the kubelet forgets who has what.
    """
    async with node.locks.kubelet:
        checkpoint = node.places.sockets / "kubelet_internal_checkpoint"
        memory = checkpoint.read_bytes() if checkpoint.exists() else b""
        shutil.rmtree(node.places.sockets)
        await asyncio.sleep(node.chance.uniform(0, 0.5))
        node.places.sockets.mkdir()
        if memory:
            checkpoint.write_bytes(memory)
        await asyncio.sleep(node.chance.uniform(0, 1.5))
        await pods.restarted(containers_gone=False, down=0.1, settle=0.5)


async def _remove_sockets(node: Node, pods: Pods) -> None:
    sockets = node.places.pool_sockets()
    node.places.remove(*(sockets if node.chance.random() < 1 / 2 else sockets[:1]))


# -- the daemon's process -------------------------------------------------------------------------
async def _kill(node: Node, pods: Pods) -> None:
    async with node.locks.process:
        node.debris |= node.sockets()
        await node.daemon.kill()
        await asyncio.sleep(node.chance.choice((0.0, 0.0, 0.5, 3.0)))
        await node.start_daemon()


async def _terminate(node: Node, pods: Pods) -> None:
    async with node.locks.process:
        await node.daemon.terminate()
        await asyncio.sleep(node.chance.choice((0.0, 0.0, 0.5, 3.0)))
        await node.start_daemon()


async def _stop(node: Node, pods: Pods) -> None:
    """SIGSTOP: mostly for a moment, now and then for twenty seconds."""
    async with node.locks.process:
        long = node.chance.random() < 1 / 8
        node.daemon.send(signal.SIGSTOP)
        try:
            await asyncio.sleep(_LONGEST_STOP if long else node.chance.uniform(0.2, 4.0))
        finally:
            node.daemon.send(signal.SIGCONT)


async def _no_more_files(node: Node, pods: Pods) -> None:
    """EMFILE: about as many files as are open, and no more."""
    async with node.locks.process:
        pid = node.daemon.pid
        if pid is None:
            return
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        most = max(open_files(pid) + node.chance.randint(-4, 2), 3)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, before[1]))
        try:
            await asyncio.sleep(node.chance.uniform(0.5, 4.0))
        finally:
            with suppress(ProcessLookupError):  # an end is found out later
                resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


async def _set_clock(node: Node, pods: Pods) -> None:
    """The wall clock jumps, by seconds or by a day, forwards or back, and stays there."""
    for _ in range(node.chance.randint(1, 3)):
        ahead = node.chance.choice((-86400, -3600, -40, 0, 40, 3600, 86400))
        node.tell(f"  {ahead:+} s")
        node.clock.set(ahead)
        await asyncio.sleep(node.chance.uniform(0, 2 * SEEN_WITHIN))


# -- host and configuration -----------------------------------------------------------------------
async def _change_host(node: Node, pods: Pods) -> None:
    """VFs come and go, are bound to another driver, PFs are unplugged: some changes, one upon the other."""
    for _ in range(node.chance.randint(1, 4)):
        await _act(node, node.chance.choice(_HOST_ACTIONS))
        await asyncio.sleep(node.chance.choice((0.0, 0.05, 0.5)))


async def _vanish_and_return(node: Node, pods: Pods) -> None:
    """The VFs of a PF are made anew, as a driver that is reloaded does."""
    for bdf, function in list(node.host.description.functions.items()):
        if function.sriov and function.vfs:
            number, drivers = len(function.vfs), [vf.driver for vf in function.vfs.values()]
            node.host.remove_vfs(bdf)
            await asyncio.sleep(node.chance.choice((0.0, 0.2, 2.0)))
            for vf, driver in zip(node.host.create_vfs(bdf, number, driver="iavf"), drivers, strict=True):
                if driver != "iavf":
                    node.host.rebind(vf.bdf, driver)


async def _edit(node: Node, pods: Pods) -> None:
    async with node.locks.configuration:
        actions = (configuration.ADD_POOL, configuration.REMOVE_POOL, configuration.REORDER_POOLS)
        action = node.chance.choice((*actions, configuration.RENAME_POOL, configuration.REDEFINE_POOL))
        choices = action.choices(cast(Any, node))
        if choices:
            pools = node.chance.choice(choices)
            node.tell(f"  {action.name}: {pools}")
            node.config.write(pools)


async def _bad_edit(node: Node, pods: Pods) -> None:
    async with node.locks.configuration:
        breakage = node.chance.choice(BREAKAGES)
        node.tell(f"  {breakage}")
        node.config.spoil(breakage)
        await asyncio.sleep(node.chance.uniform(0, 2))
        node.config.write(node.config.pools)


async def _act(node: Node, action: AnyAction) -> None:
    choices = action.choices(cast(Any, node))
    if choices:
        choice = node.chance.choice(choices)
        node.tell(f"  {action.name}: {choice}")
        await action.perform(cast(Any, node), choice)


# -- the disk -------------------------------------------------------------------------------------
async def _full(node: Node, pods: Pods) -> None:
    node.disk.fill()
    try:
        await asyncio.sleep(node.chance.uniform(0.5, 4.0))
    finally:
        node.disk.empty()


async def _read_only(node: Node, pods: Pods) -> None:
    node.disk.set_writable(False)
    try:
        await asyncio.sleep(node.chance.uniform(0.5, 4.0))
    finally:
        node.disk.set_writable(True)


async def _lose_records(node: Node, pods: Pods) -> None:
    node.places.remove(*(node.places.devinfo / name for name in node.places.records()))


def mend_host(node: Node) -> None:
    """PFs are there, with their driver and VFs, and no default route goes over them."""
    for interface in {route.interface for route in node.host.description.routes}:
        node.host.uses.drop_routes(interface)
    for bdf, name, numa in PFS:
        functions = node.host.description.functions
        if bdf not in functions:
            node.host.add(node.host.description.pf(bdf, netdevs=[name], numa=numa, totalvfs=MOST_VFS))
        elif functions[bdf].driver != "ice":
            node.host.rebind(bdf, "ice")
        elif functions[bdf].left_for_pod:
            node.host.return_netdev(bdf)
        if not vf_count(node.host, functions[bdf]):
            node.host.create_vfs(bdf, MOST_VFS, driver="iavf")


#: More that brings devices than takes them away.
_HOST_ACTIONS: Final = (
    *(host.CREATE_VFS, host.PLUG, host.DROP_ROUTE, host.RETURN_NETDEV, host.REBIND) * 2,
    *(host.REMOVE_VFS, host.UNPLUG, host.ADD_ROUTE, host.MOVE_NETDEV),
)
FAULTS: Final = (
    Fault("kubelet restarted", "kubelet", _restart_kubelet, 3),
    Fault("kubelet restarted, containers gone", "kubelet", _reboot),
    Fault("socket directory made anew", "kubelet", _lose_directory),
    Fault("sockets removed", "sockets", _remove_sockets, 2),
    Fault("daemon killed with -9", "process", _kill, 3),
    Fault("daemon ended with SIGTERM", "process", _terminate, 2),
    Fault("daemon stopped for a while", "process", _stop, 2),
    Fault("no more files (EMFILE)", "process", _no_more_files, 2),
    Fault("wall clock set", "clock", _set_clock, 2, needs_clock=True),
    Fault("host changed", "host", _change_host, 4),
    Fault("VFs gone and back", "host", _vanish_and_return, 2),
    Fault("configuration edited", "configuration", _edit, 3),
    Fault("configuration broken and mended", "configuration", _bad_edit, 2),
    Fault("disk full", "disk", _full, 2, needs_mounts=True),
    Fault("disk read-only", "disk", _read_only, 2, needs_mounts=True),
    Fault("device information removed", "disk", _lose_records),
)
