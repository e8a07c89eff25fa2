"""The composition root: the one place where ports meet their adapters."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from dependency_injector import containers, providers

from adapters.cdi.store import FileCdiStore
from adapters.config.config_file import ConfigFile
from adapters.devinfo.store import FileDeviceInfoStore
from adapters.kubelet.pod_resources import PodResources
from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from adapters.netlink.host_reader import NetlinkHostReader, Questions
from adapters.sysfs.host_reader import SysfsHostReader
from application.allocation import Allocation
from application.cdi import CdiPublication
from application.discovery import Discovery
from application.explain import Explain
from application.holdings import Holdings
from application.pool_table import PoolTable
from application.ports.host_reader import HostReader
from application.ports.journal import Journal
from domain.facility_selectors import DdpProfiles
from domain.pci import PciAddress
from domain.pf_selectors import PfNames
from domain.pool import PoolSpec
from entrypoints.settings import Settings


def host_reader(root: Path, pools: Sequence[PoolSpec], journal: Journal) -> HostReader:
    """The reader of sysfs, with netlink's help where the pools ask for what only netlink knows.

    Below another root than / there is a tree of some host, which netlink would not be asked about.
    """
    reader = SysfsHostReader(root)
    conditions = [s for pool in pools for chosen in pool.selectors for s in chosen.selectors]
    ask_profiles = any(isinstance(s, DdpProfiles) for s in conditions)
    pf_names = {name for s in conditions if isinstance(s, PfNames) for name in s.ranges}
    if root != Path("/") or not (ask_profiles or pf_names):
        return reader
    questions = Questions(_ddp_profiles, _alternative_names)
    return NetlinkHostReader(reader, questions, journal, ask_profiles=ask_profiles, pf_names=pf_names)


def _ddp_profiles() -> Mapping[PciAddress, str]:
    from adapters.netlink.devlink import ddp_profiles

    return ddp_profiles()


def _alternative_names() -> Mapping[str, tuple[str, ...]]:
    from adapters.netlink.links import alternative_names

    return alternative_names()


class Container(containers.DeclarativeContainer):
    """Everything the daemon and the command are made of; built from settings and a journal."""

    settings = providers.Dependency(instance_of=Settings)
    journal: providers.Dependency[Journal] = providers.Dependency()

    configuration = providers.Singleton(
        ConfigFile, settings.provided.config_file, settings.provided.resource_prefix, strict=settings.provided.strict
    )
    pools = providers.Singleton(lambda source: source.load().pools, configuration)
    table = providers.Singleton(PoolTable, pools)
    reader = providers.Singleton(host_reader, settings.provided.root, pools, journal)
    device_info_store = providers.Singleton(FileDeviceInfoStore, settings.provided.devinfo_dir)
    device_use = providers.Singleton(PodResources, settings.provided.kubelet_dir, journal)
    holdings = providers.Singleton(Holdings, device_use)
    cdi_store = providers.Singleton(FileCdiStore, settings.provided.cdi_dir, journal)
    cdi = providers.Singleton(
        lambda wanted, store, holdings: CdiPublication(store, holdings) if wanted else None,
        settings.provided.use_cdi,
        cdi_store,
        holdings,
    )
    allocation = providers.Singleton(Allocation, table, reader, device_info_store, cdi, holdings, journal)
    publisher = providers.Singleton(
        KubeletPublisher,
        providers.Factory(
            lambda own, host: KubeletPaths(own, host or own),
            settings.provided.kubelet_dir,
            settings.provided.kubelet_host_dir,
        ),
        providers.Factory(Registration, settings.provided.registration),
        allocation.provided.allocate,
        journal,
    )
    discovery = providers.Singleton(Discovery, table, reader, publisher, device_info_store, cdi, holdings, journal)
    explain = providers.Singleton(Explain, pools, reader)


def build(settings: Settings, journal: Journal) -> Container:
    """A container for one process."""
    return Container(settings=providers.Object(settings), journal=providers.Object(journal))
