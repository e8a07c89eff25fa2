"""The daemon on a node whose kernel has no devlink: pools that ask for it are empty, all others are served."""

import asyncio
import json
from pathlib import Path

import pytest

from adapters.netlink.devlink import ddp_profiles
from tests.daemon.process import daemon
from tests.fakes.kubelet import EAGER, FakeKubelet


def has_devlink() -> bool:
    try:
        ddp_profiles()
    except Exception:  # noqa: BLE001 - whatever it is, there is no answer
        return False
    return True


@pytest.mark.skipif(has_devlink(), reason="this kernel has devlink")
def test_an_absent_devlink_is_said_once_and_the_daemon_works(short_path: Path) -> None:
    """Case D17; on this machine's own devices, which are only looked at."""
    config = short_path / "config.json"
    pools = [
        {"resourceName": "ddp", "selectors": {"ddpProfiles": ["ICE COMMS Package"]}},
        {"resourceName": "named", "selectors": {"pfNames": ["no-such-interface"]}},
    ]
    config.write_text(json.dumps({"resourceList": pools}), encoding="utf-8")
    flags = (
        f"--config-file={config}",
        f"--kubelet-dir={short_path}",
        f"--devinfo-dir={short_path / 'devinfo'}",
    )

    async def story() -> None:
        async with FakeKubelet(short_path, timing=EAGER), daemon(short_path, *flags) as process:
            await process.until_told("nothing to serve")
            (said,) = process.told("netlink gives no answer")
            assert said["level"] == "warning"
            assert said["consequence"] == "ddpProfiles match nothing"
            assert process.process.returncode is None
            assert (await process.stop())[0] == 0
            assert "Traceback" not in process.text

    asyncio.run(story())
