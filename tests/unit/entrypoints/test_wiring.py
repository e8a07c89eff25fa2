"""mypy does not see what providers are given: every provider is built here once."""

import json
from pathlib import Path

from dependency_injector import providers

from adapters.config.config_file import ConfigFile
from adapters.devinfo.store import FileDeviceInfoStore
from adapters.kubelet.device_use import KubeletDeviceUse
from adapters.kubelet.publisher import KubeletPublisher
from adapters.sysfs.host_reader import SysfsHostReader
from application.ports.device_info_store import DeviceInfoStore
from application.ports.host_reader import HostReader
from application.ports.kubelet import DeviceUse, KubeletContact, PoolPublisher
from application.ports.pool_configuration import PoolConfiguration
from entrypoints.container import Container, build
from entrypoints.settings import Settings
from tests.fakes.journal import FakeJournal


def container(tmp_path: Path) -> Container:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"resourceList": [{"resourceName": "p", "selectors": {}}]}), encoding="utf-8")
    settings = Settings(
        use_cdi=True,
        config_file=config,
        root=tmp_path,
        kubelet_dir=tmp_path,
        devinfo_dir=tmp_path / "dp",
        probe_address="127.0.0.1:19808",
    )
    return build(settings, FakeJournal())


def test_every_provider_can_be_built(tmp_path: Path) -> None:
    built = container(tmp_path)

    for name, provider in Container.providers.items():
        assert isinstance(provider, providers.Provider)
        assert getattr(built, name)() is not None, name


def test_adapters_are_what_their_ports_ask_for(tmp_path: Path) -> None:
    built = container(tmp_path)

    configuration: PoolConfiguration = ConfigFile(tmp_path, "intel.com")
    reader: HostReader = SysfsHostReader(tmp_path)
    store: DeviceInfoStore = FileDeviceInfoStore(tmp_path)
    use: DeviceUse = built.device_use()
    publisher: PoolPublisher = built.publisher()
    contact: KubeletContact = built.publisher()

    assert {type(a) for a in (configuration, reader, store, use, publisher, contact)} == {
        ConfigFile,
        SysfsHostReader,
        FileDeviceInfoStore,
        KubeletDeviceUse,
        KubeletPublisher,
    }


def test_settings_reach_the_adapters(tmp_path: Path) -> None:
    built = container(tmp_path)

    assert [str(pool.name) for pool in built.configuration().load().pools] == ["intel.com/p"]
    assert built.explain()().trails == ()
