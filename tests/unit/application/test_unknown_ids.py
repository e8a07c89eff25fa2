"""Ids that a pool does not hold, in pools of subfunctions."""

from pathlib import Path

import pytest

from tests.hosts.auxiliary import subfunction
from tests.hosts.host import SimHost
from tests.hosts.netdev import Netdev
from tests.unit.application.stage import Stage

SF = "mlx5_core.sf.4"


@pytest.mark.parametrize("unknown", ["mlx5_core.sf.99", "0000:08:00.0", "mlx5_core.eth.8", ""])
def test_an_unknown_id_fails_the_whole_call_and_writes_nothing(unknown: str, tmp_path: Path) -> None:
    """Case E08."""
    host = SimHost()
    pf = host.pf("0000:08:00.0", vendor="15b3", device="a2d6", driver="mlx5_core", netdevs=["p0"])
    host.adopt(pf, subfunction(4, 88, Netdev("p0s88")))
    stage = Stage(tmp_path, host, {"resourceName": "sf", "deviceType": "auxNetDevice", "selectors": {}})

    assert stage.refused("sf", SF, unknown) == f"{unknown} is not in pool intel.com/sf"
