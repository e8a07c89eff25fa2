"""The demo shows what it promises."""

import json
import re
import signal
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
DEMO = [sys.executable, "-m", "tests.demo"]


def test_the_demo_shows_pools_what_a_container_gets_and_why_a_device_is_left_out() -> None:
    done = subprocess.run(DEMO, check=False, cwd=REPOSITORY, capture_output=True, text=True, timeout=180)

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 45
    assert lines[0].startswith("Simulated:")
    rows = [line.split() for line in lines if re.match(r"intel\.com/\S+ +\S+ +\d", line)]
    assert [row[:4] for row in rows] == [
        ["intel.com/sriov_netdevice", "iavf", "8", "8"],
        ["intel.com/sriov_dpdk", "vfio-pci", "8", "8"],
    ]
    kernel, userspace = (line.rstrip(":").split()[-1] for line in lines if line.startswith("A pod asks for one"))
    assert f"  environment   PCIDEVICE_INTEL_COM_SRIOV_NETDEVICE={kernel}" in lines
    assert f"  environment   PCIDEVICE_INTEL_COM_SRIOV_DPDK={userspace}" in lines
    assert "  device node   /dev/vfio/vfio (rw)" in lines
    records = [json.loads(line) for line in lines if line.strip().startswith("{")]
    assert [record["pci"]["pci-address"] for record in records] == [kernel, userspace]
    assert "0000:3b:00.0" in lines[-1]
    assert "in no pool: PF with VFs" in lines[-1]


def test_the_watching_demo_shows_changes_says_how_to_make_more_and_ends_with_ctrl_c() -> None:
    with subprocess.Popen([*DEMO, "--watch"], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = list(takewhile(lambda line: not line.startswith("The daemon's log"), process.stdout))
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    shown = "".join(lines)
    assert re.search(r"intel\.com/sriov_netdevice  7 devices  -0000:af:01\.[23]\n", shown)
    assert re.search(r"intel\.com/sriov_dpdk  8 devices  0000:\S+ is Unhealthy\n", shown)
    assert "its interface moves into the pod\n  nothing to tell the kubelet\n" in shown
    host = next(line.split()[1] for line in lines if line.strip().startswith("cd "))
    assert not Path(host).exists()
