"""Everything that can be set, by flag or by environment; a flag wins."""

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings, SettingsConfigDict


def _log_level(value: int) -> int:
    if not 0 <= value <= _MOST_VERBOSE:
        raise ValueError(f"expected 0 to {_MOST_VERBOSE}")
    return value


_MOST_VERBOSE = 10


def _below_logs(value: Path | None) -> Path | None:
    """A relative directory is below /var/log, where the script of the Go plugin's image takes it to be."""
    return None if value is None else Path("/var/log") / value


def _probe_address(value: str | None) -> str | None:
    if value is not None:
        host_and_port(value)
    return value


def host_and_port(address: str) -> tuple[str, int]:
    """The two parts of `127.0.0.1:19808` or `[::1]:19808`; no name, which would have to be looked up.

    Raises:
        ValueError: if it is anything else.
    """
    host, _, port = address.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    try:
        found = ip_address(host[1:-1] if bracketed else host)
        number = int(port) if port.isascii() and port.isdigit() else 0
        if found.version == (6 if bracketed else 4) and 0 < number <= _LAST_PORT:
            return str(found), number
    except ValueError:
        pass
    raise ValueError("expected ADDRESS:PORT, as 127.0.0.1:19808 or [::1]:19808")


_LAST_PORT = 65535


class Settings(BaseSettings):
    """Settings of the daemon; those about reading are the command's too.

    An empty variable is as good as none, as an empty flag is: manifests are made of templates.
    """

    model_config = SettingsConfigDict(env_prefix="SRIOVDP_", env_ignore_empty=True, frozen=True)

    config_file: Path = Field(default=Path("/etc/pcidp/config.json"), description="the pools, as JSON")
    resource_prefix: str = Field(default="intel.com", description="prefix of resource names, where a pool sets none")
    log_level: Annotated[int, AfterValidator(_log_level)] = Field(
        default=1, description="0 warnings, 1 to 4 changes of state, 5 to 10 details"
    )
    log_dir: Annotated[Path | None, AfterValidator(_below_logs)] = Field(
        default=None, description="write the log to files here too, 3 of 10 MB at most; relative to /var/log"
    )
    use_cdi: bool = Field(default=False, description="hand devices out by CDI files instead of nodes")
    root: Path = Field(default=Path("/"), description="read /sys, /proc and /dev below this directory")
    kubelet_dir: Path = Field(default=Path("/var/lib/kubelet"), description="the kubelet's directory, as mounted here")
    kubelet_host_dir: Path | None = Field(
        default=None, description="the kubelet's directory as the kubelet sees it, if not the same"
    )
    devinfo_dir: Path = Field(
        default=Path("/var/run/k8s.cni.cncf.io/devinfo/dp"), description="device information for the CNI side"
    )
    cdi_dir: Path = Field(default=Path("/var/run/cdi"), description="CDI files for container runtimes")
    registration: Literal["auto", "watcher", "classic"] = Field(
        default="auto", description="how the kubelet gets to know pools; auto: watcher if plugins_registry exists"
    )
    health_check_interval: float = Field(
        default=20.0, gt=0, description="seconds after which health is judged again without a reason"
    )
    probe_address: Annotated[str | None, AfterValidator(_probe_address)] = Field(
        default=None, description="answer GET /livez and /readyz on this ADDRESS:PORT"
    )
    strict: bool = Field(default=False, description="refuse a configuration that has warnings")
