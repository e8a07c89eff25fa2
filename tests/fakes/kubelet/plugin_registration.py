"""Registering one plugin of plugins_registry: pm/operationexecutor/operation_generator.go."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import grpc

from adapters.kubelet.pb import pluginregistration_v1_pb2 as reg
from adapters.kubelet.pb import pluginregistration_v1_pb2_grpc as reg_grpc
from tests.fakes.kubelet.dial import DialFailed, dial
from tests.fakes.kubelet.grpc_status import CallFailed, outcome
from tests.fakes.kubelet.registration import VERSION, Refused, Registrations, invalid_name
from tests.fakes.kubelet.resource_name import is_extended_resource
from tests.fakes.kubelet.setting import Setting

# What grpc-go leaves unescaped in an :authority (encodeAuthority); a slash is not among it.
_PLAIN = "-._~!$&'()*+,;=:[]@"


class OperationFailed(Exception):
    """The path has to rest before the next try."""


@dataclass(frozen=True, slots=True)
class Registered:
    """What the kubelet believes to be registered."""

    path: Path
    mark: int
    resource: str
    endpoint: Path


class PluginRegistration:
    def __init__(self, registrations: Registrations, setting: Setting) -> None:
        self.actual: dict[Path, Registered] = {}
        self._registrations = registrations
        self._release = setting.release
        self._timing = setting.timing
        self._journal = setting.journal

    async def register(self, path: Path, mark: int) -> None:
        try:
            channel = await dial(path, quote(str(path), safe=_PLAIN), self._timing)
        except DialFailed as failure:
            raise OperationFailed(
                f"RegisterPlugin error -- dial failed at socket {path}, "
                f"err: failed to dial socket {path}, err: {failure}"
            ) from None
        try:
            await self._register(channel, path, mark)
        finally:
            await channel.close()

    def unregister(self, registered: Registered) -> None:
        self.actual.pop(registered.path, None)
        self._registrations.disconnect(registered.resource, registered.endpoint)

    async def _register(self, channel: grpc.aio.Channel, path: Path, mark: int) -> None:
        plugin = reg_grpc.RegistrationStub(channel)
        info = await self._info(plugin, path)
        # Empty: the service is on the registration socket. Otherwise it is opened as it stands.
        endpoint = Path(info.endpoint) if info.endpoint else path
        registered = Registered(path, mark, info.name, endpoint)
        if problem := _problem(info, path):
            await self._notify(plugin, registered, problem)
            raise OperationFailed(problem)
        self.actual[path] = registered
        try:
            await self._registrations.connect(info.name, endpoint)
        except Refused as refusal:
            if self._release.retries_registration:
                self.actual.pop(path, None)
            problem = f"RegisterPlugin error -- plugin registration failed with err: {refusal}"
            await self._notify(plugin, registered, problem)
            raise OperationFailed(problem) from None
        try:
            await self._notify(plugin, registered, "")
        except OperationFailed:
            if self._release.retries_registration:
                self.unregister(registered)
            raise

    async def _info(self, plugin: "reg_grpc.RegistrationAsyncStub", path: Path) -> reg.PluginInfo:
        self._journal.called("GetInfo", "", path, reg.InfoRequest())
        call = plugin.GetInfo(reg.InfoRequest(), timeout=self._timing.get_info)
        try:
            return await outcome(call, path)
        except CallFailed as failure:
            raise OperationFailed(
                f"RegisterPlugin error -- failed to get plugin info using RPC GetInfo at socket {path}, err: {failure}"
            ) from None

    async def _notify(self, plugin: "reg_grpc.RegistrationAsyncStub", registered: Registered, problem: str) -> None:
        status = reg.RegistrationStatus(plugin_registered=not problem, error=problem)
        path = registered.path
        self._journal.called("NotifyRegistrationStatus", registered.resource, path, status)
        call = plugin.NotifyRegistrationStatus(status, timeout=self._timing.notify)
        try:
            await outcome(call, path)
        except CallFailed as failure:
            raise OperationFailed(
                "RegisterPlugin error -- failed to send registration status "
                f"at socket {path}, err: {problem}: {failure}"
            ) from None


def _problem(info: reg.PluginInfo, path: Path) -> str:
    if info.type != "DevicePlugin":
        return f"RegisterPlugin error -- no handler registered for plugin type: {info.type} at socket {path}"
    failed = "RegisterPlugin error -- plugin validation failed with err: "
    if VERSION not in info.supported_versions:
        offered = " ".join(info.supported_versions)
        return f"{failed}manager version, {VERSION}, is not among plugin supported versions [{offered}]"
    if not is_extended_resource(info.name):
        return f"{failed}invalid name of device plugin socket: {invalid_name(info.name)}"
    return ""
