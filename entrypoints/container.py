"""The composition root: the one place where ports meet their adapters."""

from dependency_injector import containers, providers

from adapters.config.config_file import ConfigFile
from adapters.devinfo.store import FileDeviceInfoStore
from adapters.kubelet.pod_resources import PodResources
from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from adapters.sysfs.host_reader import SysfsHostReader
from application.allocation import Allocation
from application.discovery import Discovery
from application.explain import Explain
from application.holdings import Holdings
from application.pool_table import PoolTable
from application.ports.journal import Journal
from entrypoints.settings import Settings


class Container(containers.DeclarativeContainer):
    """Everything the daemon and the command are made of; built from settings and a journal."""

    settings = providers.Dependency(instance_of=Settings)
    journal: providers.Dependency[Journal] = providers.Dependency()

    configuration = providers.Singleton(
        ConfigFile, settings.provided.config_file, settings.provided.resource_prefix, strict=settings.provided.strict
    )
    pools = providers.Singleton(lambda source: source.load().pools, configuration)
    table = providers.Singleton(PoolTable, pools)
    reader = providers.Singleton(SysfsHostReader, settings.provided.root)
    device_info_store = providers.Singleton(FileDeviceInfoStore, settings.provided.devinfo_dir)
    device_use = providers.Singleton(PodResources, settings.provided.kubelet_dir, journal)
    holdings = providers.Singleton(Holdings, device_use)
    allocation = providers.Singleton(Allocation, table, reader, device_info_store, holdings, journal)
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
    discovery = providers.Singleton(Discovery, table, reader, publisher, device_info_store, holdings, journal)
    explain = providers.Singleton(Explain, pools, reader)


def build(settings: Settings, journal: Journal) -> Container:
    """A container for one process."""
    return Container(settings=providers.Object(settings), journal=providers.Object(journal))
