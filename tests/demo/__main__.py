"""python -m tests.demo [--watch]: what the daemon does on a node with SR-IOV, without such a node."""

import argparse
import asyncio
import signal
import sys

from tests.demo import pools
from tests.demo.grant import PodRefused, grant
from tests.demo.node import POOLS, DaemonEnded, Node
from tests.demo.story import story
from tests.demo.watch import Watch, instructions
from tests.fakes.kubelet import FakeKubelet
from tests.hosts import named
from tests.hosts.ground import temporary_directory

_LEFT_OUT = "0000:3b:00.0"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.demo", description=__doc__)
    parser.add_argument("--watch", action="store_true", help="change the node; print changes of the pools until Ctrl-C")
    options = parser.parse_args()
    with temporary_directory() as directory:
        node = Node(directory)
        try:
            asyncio.run(_show(node, going_on=options.watch))
        except (KeyboardInterrupt, asyncio.CancelledError):
            print()
        except (DaemonEnded, PodRefused, TimeoutError) as problem:
            print(f"The demo failed: {problem}\nThe daemon's log:\n{node.log.read_text()}", file=sys.stderr)
            return 1
    return 0


async def _show(node: Node, *, going_on: bool) -> None:
    if task := asyncio.current_task():
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    laid = named.demo().lay(node.host)
    node.configure()
    print("Simulated: a host with 2 PFs of 8 VFs each (a tree of /sys, /proc and /dev) and a kubelet.")
    print("Real: the daemon, the calls over its sockets, the files it writes.\n", flush=True)
    async with FakeKubelet(node.kubelet) as kubelet, node.daemon() as daemon:
        await kubelet.wait_for(lambda: daemon.returncode is not None or all(map(kubelet.is_registered, POOLS)), 60.0)
        if daemon.returncode is not None:
            raise DaemonEnded(daemon.returncode)
        print(*await pools.table(kubelet), sep="\n", flush=True)
        for resource in POOLS:
            print("", *await grant(kubelet, node, resource), sep="\n", flush=True)
        print(f"\nAnd a device that is in no pool, by `sriovdp explain --device {_LEFT_OUT}`:", flush=True)
        print(await asyncio.to_thread(node.explain, _LEFT_OUT), flush=True)
        if going_on:
            watch = Watch(kubelet, daemon)
            print("\nNow the node changes, and this is what the kubelet sees:", flush=True)
            held = [await pools.held_device(kubelet, resource) for resource in POOLS]
            await watch.play(story(laid, *held))
            print("", *instructions(node), sep="\n", flush=True)
            await watch.go_on()


if __name__ == "__main__":
    sys.exit(main())
