"""The fake kubelet as a program: python -m tests.fakes.kubelet DIRECTORY [--version 1.37].

JSON commands come on stdin, answers go to stdout (protocol.py); it ends with "quit" or with
stdin. Exit code 2 is a kubelet panic, told on stderr, as with the real harness.
"""

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tests.fakes.kubelet.kubelet import FakeKubelet
from tests.fakes.kubelet.protocol import Commands
from tests.fakes.kubelet.release import RELEASES
from tests.fakes.kubelet.timing import Timing


def send(reply: dict[str, Any]) -> None:
    print(json.dumps(reply, separators=(",", ":")), flush=True)


@contextlib.asynccontextmanager
async def lines_of_stdin() -> AsyncIterator[asyncio.StreamReader]:
    reader = asyncio.StreamReader(limit=4 << 20)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    try:
        yield reader
    finally:
        transport.close()


async def serve(options: argparse.Namespace) -> int:
    kubelet = FakeKubelet(
        options.directory.absolute(),
        version=options.version,
        topology_policy=options.policy,
        numa_nodes=options.numa,
        watcher=options.watcher,
        timing=Timing(node_tick=options.node_tick),
        seed=options.seed,
    )
    async with kubelet, lines_of_stdin() as lines:
        status = await kubelet.status()
        send(
            {
                "event": "started",
                "kubelet": status["kubelet"],
                "root": str(kubelet.directory),
                "reset_extended_resources": status["reset_extended_resources"],
            }
        )
        # A panic ends the reading, as the end of stdin does.
        commands = Commands(kubelet, send, on_panic=lines.feed_eof)
        while text := (await lines.readline()).decode():
            if text.strip() and not commands.take(text):
                await asyncio.sleep(0)  # "quit" is answered, too
                break
        for panic in kubelet.panics:
            print(f"panic: {panic}", file=sys.stderr)
        return 2 if kubelet.panics else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fakes.kubelet", description=__doc__)
    parser.add_argument("directory", type=Path, help="stands for /var/lib/kubelet; keep it short")
    parser.add_argument("--version", choices=RELEASES, default="1.37")
    parser.add_argument("--no-watcher", dest="watcher", action="store_false")
    parser.add_argument("--policy", choices=("none", "single-numa-node"), default="none")
    parser.add_argument("--numa", type=int, default=2, help="NUMA nodes of the machine")
    parser.add_argument("--node-tick", type=float, default=10.0, help="seconds between updates")
    parser.add_argument("--seed", type=int, default=0, help="for everything at random")
    return asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
