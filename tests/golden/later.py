"""Cases that need a feature there is not yet, each with that feature."""

from typing import Final

_ACCELERATOR: Final = "device type accelerator"
_AUXILIARY: Final = "device type auxNetDevice"
_CDI: Final = "CDI files"
_INFO: Final = "additionalInfo"
_NOIOMMU: Final = "vfio without IOMMU"
_RDMA: Final = "RDMA"
_UIO: Final = "uio"
_VDPA: Final = "vDPA"
_VHOST: Final = "vhost-net"

LATER: Final = {
    "accelerator_uio": _ACCELERATOR,
    "accelerator_vfio": _ACCELERATOR,
    "additional_info": _INFO,
    "cdi_one_pool": _CDI,
    "cdi_rdma_vhost": _CDI,
    "cdi_two_pools": _CDI,
    "device_info_stale": _RDMA,
    "guest_netdev_in_pod": _RDMA,
    "guest_noiommu": _NOIOMMU,
    "guest_noiommu_cdi": _NOIOMMU,
    "guest_rdma": _RDMA,
    "guest_vdpa": _VDPA,
    "guest_vdpa_cdi": _VDPA,
    "guest_vdpa_mismatch": _VDPA,
    "guest_vdpa_unbound": _VDPA,
    "guest_vdpa_vhost_net": _VDPA,
    "guest_vfio_cdi": _CDI,
    "noiommu_vm": _NOIOMMU,
    "operator_keys": _RDMA,
    "other_classes": _ACCELERATOR,
    "rdma_in_pod": _RDMA,
    "rdma_vfs": _RDMA,
    "rdma_without_uverbs": _RDMA,
    "selector_list": _RDMA,
    "subfunctions": _AUXILIARY,
    "subfunctions_on_uplink": _AUXILIARY,
    "uio_igb": _UIO,
    "unknown_ids": _ACCELERATOR,
    "vhost_net": _VHOST,
    "vhost_net_without_tun": _VHOST,
}
