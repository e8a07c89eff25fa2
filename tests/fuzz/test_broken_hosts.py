"""Whatever is broken: no exception, no half grant, no lie to the kubelet, and a reason for every device left out."""

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adapters.kubelet.messages import container_response, device_list
from domain.assignment import assign, explain
from domain.device import find_device
from domain.errors import FilesUnwritable, HostUnreadable, InvalidPciAddress, NotServable
from domain.exposure import Grant
from domain.facility_selectors import VdpaType, rdma_is_away
from domain.host import Host
from domain.host_use import host_uses
from domain.pci import PciAddress
from tests.contract.cdi_specification import resolvable
from tests.fuzz.configs import configs
from tests.fuzz.damage import Blow, blows, strike
from tests.fuzz.examples import EXAMPLES
from tests.fuzz.faults import Fault, failing, faults
from tests.fuzz.hosts import hosts
from tests.hosts.ground import temporary_directory
from tests.hosts.host import SimHost
from tests.unit.application.stage import Stage


@EXAMPLES
@given(
    host=hosts(),
    pools=configs(),
    cdi=st.booleans(),
    before=blows(),
    chosen=faults(),
    vanish=st.none() | st.integers(1, 400),
    after=blows(),
)
def test_a_broken_host_harms_nobody(
    host: SimHost,
    pools: list[dict[str, Any]],
    cdi: bool,
    before: list[Blow],
    chosen: list[Fault],
    vanish: int | None,
    after: list[Blow],
) -> None:
    """Cases I01, I05, I09, E03, and their kind."""
    with temporary_directory() as directory:
        stage = Stage(directory, host, cdi=cdi)
        for blow in before:
            strike(stage.laid, blow)
        with failing(stage.laid.root, chosen, vanishing(stage, vanish)) as watched:
            if not looked(lambda: stage.start(*pools)):
                return
            every_device_is_accounted_for(stage.table.host, watched.devices)
        with failing(stage.laid.root, chosen, lambda _: None):
            if not looked(stage.reconcile):
                return
            pools_and_explanation_agree(stage)
            lists_are_honest(stage)
            for pool, id_ in listed(stage):
                granted = granted_whole(stage, pool, id_)
                assert granted is None or stage.listed(pool)[id_] is None
                assert granted or stage.listed(pool)[id_] or nodes_lie(before, chosen) or looks_away(stage, id_)
            for blow in after:
                strike(stage.laid, blow)
            for pool, id_ in listed(stage):
                granted_whole(stage, pool, id_)
            anything_can_be_asked_again(stage)


def looked(look: Callable[[], object]) -> bool:
    """Whether a look came to its end; it may not, where nobody could tell what the host uses."""
    reason = ""
    try:
        look()
    except HostUnreadable as refusal:
        reason = str(refusal)
    assert not reason or re.search("/sys/class/net: |/proc/net/(ipv6_)?route: ", reason)
    return not reason


def nodes_lie(before: list[Blow], chosen: list[Fault]) -> bool:
    """Whether a node may be in its directory and not be there: no devtmpfs does that."""
    return any(blow.group == "dev" for blow in before) or any(call == "exists" for call, _, _ in chosen)


def looks_away(stage: Stage, id_: str) -> bool:
    """Whether an RDMA device seems to be in a pod, which is no fault but nothing to hand out either."""
    device = find_device(stage.table.host, id_, {})
    return device is not None and not device.rdma and rdma_is_away(device)


def vanishing(stage: Stage, after: int | None) -> Callable[[int], None]:
    """The last function goes, once so many calls were made."""
    victim = max(stage.laid.description.functions)

    def count(calls: int) -> None:
        if calls == after:
            with suppress(OSError):
                stage.laid.tree.delete(f"sys/bus/pci/devices/{victim}")

    return count


def every_device_is_accounted_for(host: Host, directories: list[str]) -> None:
    for name in directories:
        try:
            assert PciAddress.parse(name) in host.functions or host.unreadable[name]
        except InvalidPciAddress:
            assert host.unreadable[name]
    for function in host.functions.values():
        subfunctions = {name for name in function.auxiliary if name.split(".")[1] == "sf"}
        assert subfunctions <= host.auxiliary.keys()


def pools_and_explanation_agree(stage: Stage) -> None:
    host, specs = stage.table.host, stage.specs
    owners = {m.device.id: name for name, members in assign(host, specs).pools.items() for m in members}
    trails = explain(host, specs)
    assert {trail.device.id for trail in trails} == {*map(str, host.functions), *host.auxiliary}
    for trail in trails:
        assert trail.pool == owners.get(trail.device.id)
        assert trail.pool or trail.unusable or all(verdict.refusals for verdict in trail.verdicts)
        assert all(str(r) for verdict in trail.verdicts for r in verdict.refusals)


def lists_are_honest(stage: Stage) -> None:
    ids = [id_ for _, id_ in listed(stage)]
    assert len(set(ids)) == len(ids)
    for entries in stage.table.lists.values():
        assert [e.id for e in entries] == sorted(e.id for e in entries)
        assert device_list(entries).ByteSize() >= 0


def listed(stage: Stage) -> list[tuple[str, str]]:
    return [(name.name, entry.id) for name, entries in stage.table.lists.items() for entry in entries]


def granted_whole(stage: Stage, pool: str, id_: str) -> Grant | None:
    """The grant, all of it there; None if it was refused and nothing was written."""
    files = contents(stage.directory)
    try:
        granted = stage.allocate(pool, id_)
    except (NotServable, FilesUnwritable) as refusal:
        nothing_was_written(stage, files, named=id_ in str(refusal))
        return None
    named = resolvable(stage.cdi_directory) if granted.cdi_devices else {}
    nodes = [node.host for node in granted.nodes] + [n["hostPath"] for c in granted.cdi_devices for n in named[c]]
    for node in nodes:
        assert os.path.exists(f"{stage.laid.root}{node}"), node  # noqa: PTH110 - beside its twins in the adapter
    nothing_is_missing(stage, pool, id_, nodes)
    variable = stage.name(pool).variable
    assert granted.environment[variable] == id_
    assert json.loads(granted.environment[f"{variable}_INFO"])[id_]["generic"] == {"deviceID": id_}
    assert container_response(granted).ByteSize() > 0
    return granted


def nothing_is_missing(stage: Stage, pool: str, id_: str, nodes: list[str]) -> None:
    """What the device is used with now has its nodes in the grant, those of now."""
    seen = stage.reader.reread(stage.table.host, [id_])
    spec = next(spec for spec in stage.specs if spec.name.name == pool)
    device = find_device(seen, id_, host_uses(stage.table.host))
    member = spec.take(device) if device else None
    assert device
    assert member
    needed: list[str | None] = []
    if device.driver == "vfio-pci" and not device.subfunction:
        assert device.function.iommu_group
        needed += ["vfio/vfio", f"vfio/{'noiommu-' * device.function.noiommu}{device.function.iommu_group}"]
    if device.driver in {"igb_uio", "uio_pci_generic"}:
        needed.append(device.function.uio)
    if member.selector.rdma:
        assert all(rdma.uverbs for rdma in device.rdma)
        needed += [f"infiniband/{rdma.uverbs[0]}" for rdma in device.rdma]
    if member.selector.vhost_net:
        needed += ["vhost-net", "net/tun"]
    if member.selector.vdpa is VdpaType.VHOST:
        needed.append(next(v.vhost_node for v in device.vdpa if v.driver == "vhost_vdpa"))
    assert {f"/dev/{node}" for node in needed} <= set(nodes)


def nothing_was_written(stage: Stage, files: dict[Path, bytes], *, named: bool) -> None:
    assert named
    assert contents(stage.directory) == files


def contents(directory: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in (*directory.glob("devinfo/*"), *directory.glob("cdi/*"))}


def anything_can_be_asked_again(stage: Stage) -> None:
    host = stage.table.host
    ids = [*map(str, host.functions), *host.auxiliary, "0000:ff:1f.7", "mlx5_core.sf.999", "", "/", "0000:3b:01.0 "]
    fresh = stage.reader.reread(host, ids)
    for id_ in ids:
        gone = id_ not in {*map(str, fresh.functions), *fresh.auxiliary}
        assert not gone or id_ in fresh.unreadable
    assert not looked(stage.reader.read) or stage.reader.read() is not host
