"""A VF of each kind: what its container gets is what the kernel has, and it opens."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.guest import cdi, container, devinfo, kinds, kubelet_side, layout, modules, netlink, own_dev
from tests.e2e.guest.daemon import Daemon
from tests.e2e.guest.kinds import Pool
from tests.fakes.kubelet import FakeKubelet

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def older_dev() -> Iterator[Path]:
    """A /dev of a container that was started before there were any VFs."""
    with own_dev.made() as where:
        yield where


@pytest.fixture(scope="module")
def pools(older_dev: Path) -> Iterator[dict[str, Pool]]:
    modules.load()
    yield {f"{layout.PREFIX}/{name}": pool for name, pool in kinds.lay_out().items()}
    kinds.remove()


def test_a_container_gets_all_that_a_vf_of_its_kind_needs_or_nothing(
    pools: dict[str, Pool], tmp_path: Path, kubelet_directory: Path, devinfo_directory: Path
) -> None:
    daemon = Daemon(tmp_path, kubelet_directory, devinfo_directory, _selectors(pools))

    async def allocate(kubelet: FakeKubelet) -> None:
        await _refuse_half_of_it(kubelet, pools)
        await _allocate(kubelet, dict(reversed(pools.items())))  # that one last: it has to come back

    asyncio.run(_serve(daemon, pools, allocate))


def test_nodes_come_by_cdi_and_need_not_be_in_the_dev_of_the_daemon(
    pools: dict[str, Pool], older_dev: Path, tmp_path: Path, kubelet_directory: Path, devinfo_directory: Path
) -> None:
    files = tmp_path / "cdi"
    pools = {resource: pool for resource, pool in pools.items() if not pool.needs_netlink}
    options = ("--use-cdi", f"--cdi-dir={files}")
    wrapper = own_dev.wrapper(older_dev)
    daemon = Daemon(tmp_path, kubelet_directory, devinfo_directory, _selectors(pools), "auto", wrapper, options)

    async def allocate(kubelet: FakeKubelet) -> None:
        assert {node.name for node in (daemon.proc / "root/dev/vfio").iterdir()} == {"vfio"}
        described = cdi.specs(files)
        await _allocate(kubelet, pools, files)
        assert cdi.specs(files) == described

    asyncio.run(_serve(daemon, pools, allocate))
    assert len(cdi.specs(files)) == len(pools) - 1  # containers may be restarted; virtio_vdpa has no nodes


def _selectors(pools: dict[str, Pool]) -> dict[str, dict[str, object]]:
    return {name.rpartition("/")[2]: dict(pool.selectors) for name, pool in pools.items()}


async def _serve(daemon: Daemon, pools: dict[str, Pool], meanwhile: Callable[[FakeKubelet], Awaitable[None]]) -> None:
    async with kubelet_side.kubelet(daemon.kubelet, watcher=True) as kubelet:
        before = kubelet_side.files(daemon.kubelet)
        with daemon:
            expected = {resource: set(pool.vfs) for resource, pool in pools.items()}
            assert await kubelet_side.wait_offered(kubelet, daemon, [*expected]) == expected
            uses = {resource: pool.uses for resource, pool in pools.items()}
            devinfo.check(daemon.devinfo, expected, uses)
            await kubelet.capacity()  # the Node's next update comes in ten seconds else
            await meanwhile(kubelet)
            status, _ = await asyncio.to_thread(daemon.stop)
            assert status == 0
        assert kubelet_side.files(daemon.kubelet) == before
        devinfo.check(daemon.devinfo, expected, uses)


async def _allocate(kubelet: FakeKubelet, pools: dict[str, Pool], cdi_directory: Path | None = None) -> None:
    for resource, pool in pools.items():
        await kubelet.wait_allocatable(resource, len(pool.vfs))
        admission = await kubelet.admit(resource, {resource: len(pool.vfs)})
        assert admission.admitted, admission.message
        started = admission.containers["c0"]
        assert container.check(started, resource, pool.uses, cdi_directory) == sorted(pool.vfs)


async def _refuse_half_of_it(kubelet: FakeKubelet, pools: dict[str, Pool]) -> None:
    """A VF without its RDMA device, and with it the whole request."""
    resource, pool = next((resource, pool) for resource, pool in pools.items() if "rdma" in pool.uses)
    lost = pool.vfs[0]
    kinds.delete_rdma(netlink.rdma_device(lost))
    try:
        admission = await kubelet.admit("too-early", {resource: 2})
    finally:
        kinds.add_rdma(lost)
    assert not admission.admitted
    # By the daemon, or by the kubelet if it has learnt of it already.
    by_daemon = f"{lost} of pool {resource} cannot be used: isRdma: "
    assert by_daemon in admission.message or "devices unavailable" in admission.message
    await kubelet.wait_for(
        lambda: set(kubelet.messages(resource)[-1].health.values()) == {"Healthy"}, within=kubelet_side.PATIENCE
    )
