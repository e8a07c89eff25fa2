"""The composition root: the one place where ports meet their adapters."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from dependency_injector import containers, providers

from adapters.cdi.store import FileCdiStore
from adapters.config.config_feed import ConfigFeed
from adapters.config.config_file import ConfigFile
from adapters.devinfo.store import FileDeviceInfoStore
from adapters.kubelet.checkpoint import Checkpoint
from adapters.kubelet.device_use import KubeletDeviceUse
from adapters.kubelet.kubelet_socket import KubeletSocket
from adapters.kubelet.pod_resources import PodResources
from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from adapters.netlink.host_reader import NetlinkHostReader, Questions
from adapters.netlink.link_feed import LinkFeed
from adapters.probes.server import ProbeServer
from adapters.sysfs.function_control import SysfsFunctionControl
from adapters.sysfs.host_reader import SysfsHostReader
from adapters.sysfs.tree_feed import TreeFeed
from adapters.udev.uevent_feed import UeventFeed
from application.allocation import Allocation
from application.bounded_calls import BoundedCalls
from application.cdi import CdiPublication
from application.discovery import Discovery
from application.explain import Explain
from application.following import Following, Pace
from application.holdings import Holdings
from application.link_holds import LinkHolds
from application.occupancy import Occupancy
from application.orphans import Orphans
from application.pool_table import PoolTable
from application.ports.change_feed import ChangeFeed
from application.ports.host_reader import HostReader
from application.ports.journal import Journal
from application.recovery import DriverRecovery
from application.signs_of_use import SignsOfUse
from application.tidings import Tidings
from application.vitals import Vitals
from domain.pci import PciAddress
from entrypoints.settings import Settings, host_and_port


def host_reader(root: Path, table: PoolTable, journal: Journal) -> HostReader:
    """The reader of sysfs, with netlink's help where the pools ask for what only netlink knows.

    Below another root than / there is a tree of some host, which netlink would not be asked about.
    """
    reader = SysfsHostReader(root, journal)
    if root != Path("/"):
        return reader
    return NetlinkHostReader(reader, Questions(_ddp_profiles, _alternative_names), lambda: table.wanted, journal)


def device_use(kubelet_directory: Path, journal: Journal) -> KubeletDeviceUse:
    """Who tells what containers hold."""
    kubelet = KubeletSocket(kubelet_directory / "device-plugins" / "kubelet.sock")
    pod_resources = PodResources(kubelet_directory, journal)
    return KubeletDeviceUse(pod_resources, Checkpoint(kubelet_directory, journal), kubelet)


def change_feeds(root: Path, config_file: Path) -> Sequence[ChangeFeed]:
    """Sources of changes: the kernel's own for its own tree, inotify for every other."""
    of_host: tuple[ChangeFeed, ...] = (UeventFeed(), LinkFeed()) if root == Path("/") else (TreeFeed(root),)
    return (*of_host, ConfigFeed(config_file))


def probe_server(address: str | None, vitals: Vitals, journal: Journal) -> ProbeServer | None:
    """The server of /livez and /readyz; None if nobody asked for one."""
    if address is None:
        return None
    return ProbeServer(*host_and_port(address), {"/livez": vitals.live, "/readyz": vitals.ready}, journal)


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
    table = providers.Singleton(PoolTable)
    reader = providers.Singleton(host_reader, settings.provided.root, table, journal)
    device_info_store = providers.Singleton(FileDeviceInfoStore, settings.provided.devinfo_dir)
    device_use = providers.Singleton(device_use, settings.provided.kubelet_dir, journal)
    holdings = providers.Singleton(Holdings, device_use)
    cdi_store = providers.Singleton(FileCdiStore, settings.provided.cdi_dir, journal)
    cdi = providers.Singleton(
        lambda wanted, store, holdings: CdiPublication(store, holdings) if wanted else None,
        settings.provided.use_cdi,
        cdi_store,
        holdings,
    )
    control = providers.Singleton(SysfsFunctionControl, settings.provided.root)
    calls = providers.Singleton(BoundedCalls)
    allocation = providers.Singleton(
        Allocation, table, reader, device_info_store, cdi, control, holdings, journal, calls
    )
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
        table.provided.is_configured,
    )
    tidings = providers.Singleton(Tidings, journal)
    link_holds = providers.Singleton(LinkHolds)
    recovery = providers.Singleton(DriverRecovery, control, holdings, journal)
    discovery = providers.Singleton(
        Discovery,
        table,
        reader,
        publisher,
        device_info_store,
        cdi,
        holdings,
        recovery,
        tidings,
        link_holds,
        providers.Factory(
            Occupancy,
            holdings,
            providers.Factory(SignsOfUse, control),
            providers.List(settings.provided.resource_prefix),
        ),
        providers.Factory(Orphans, device_info_store, holdings, tidings),
    )
    feeds = providers.Singleton(change_feeds, settings.provided.root, settings.provided.config_file)
    following = providers.Singleton(
        Following,
        discovery,
        configuration,
        table,
        feeds,
        journal,
        providers.Factory(Pace),
        settings.provided.health_check_interval,
    )
    vitals = providers.Singleton(Vitals, following, recovery, publisher)
    probes = providers.Singleton(probe_server, settings.provided.probe_address, vitals, journal)
    explain = providers.Factory(Explain, table.provided.wanted, reader)


def build(settings: Settings, journal: Journal) -> Container:
    """A container for one process."""
    return Container(settings=providers.Object(settings), journal=providers.Object(journal))
