"""What differs between the releases, as seen on the real code (facts/kubelet.md 4.2, 6, 8)."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Release:
    """One kubelet minor version, as the set of rules it follows."""

    version: str
    # 1.33: dm/manager.go CleanupPluginDirectory spares what is not a socket.
    cleans_only_sockets: bool = True
    # 1.34: Device travels by pointer; a missing map entry is a nil dereference.
    panics_on_missing_device: bool = True
    # 1.34: gate KubeletPodResourcesListUseActivePods.
    lists_only_active_pods: bool = True
    # 1.34: gate KubeletPodResourcesGet is on by default.
    gets_one_pod: bool = True
    # 1.35: contexts are plumbed through, so a Register that is given up is given up.
    register_follows_caller: bool = True
    # 1.35: masks are built from the nodes that have devices, not from all of the machine's.
    masks_only_device_nodes: bool = True
    # 1.36 (#133335): a failed RegisterPlugin is retried, a failed Notify takes the plugin out.
    retries_registration: bool = True
    # 1.36: gate ResourceHealthStatus.
    sends_health_updates: bool = True
    # 1.36: gate DRAExtendedResource.
    skips_claimed_resources: bool = True
    # 1.37 (#135437): clients and endpoints are keyed by resource and socket.
    keys_by_socket: bool = True
    # 1.37: a device is looked up with its resource name.
    looks_up_within_resource: bool = True


_V137 = Release("1.37")
_V136 = replace(_V137, version="1.36", keys_by_socket=False, looks_up_within_resource=False)
_V135 = replace(
    _V136,
    version="1.35",
    retries_registration=False,
    sends_health_updates=False,
    skips_claimed_resources=False,
)
_V134 = replace(_V135, version="1.34", register_follows_caller=False, masks_only_device_nodes=False)
_V132 = replace(
    _V134,
    version="1.32",
    cleans_only_sockets=False,
    panics_on_missing_device=False,
    lists_only_active_pods=False,
    gets_one_pod=False,
)

RELEASES = {release.version: release for release in (_V132, _V134, _V135, _V136, _V137)}
