"""What happens on the demo's node while a person looks on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from tests.hosts.iommu import VFIO
from tests.hosts.laid import LaidHost

_PF: Final = "0000:af:00.0"
_ON_IAVF: Final = ("0000:af:01.2", "0000:af:01.3")


@dataclass(frozen=True, slots=True)
class Act:
    told: str
    play: Callable[[], object]
    is_news: bool = True
    """Whether the kubelet is to be told of it."""


def story(laid: LaidHost, on_iavf: str, on_vfio: str) -> Sequence[Act]:
    """Changes of the host, one after the other; a pod holds device *on_iavf*, another holds *on_vfio*."""
    free = next(vf for vf in _ON_IAVF if vf != on_iavf)
    return (
        Act(f"VF {free} is bound to {VFIO}", partial(laid.rebind, free, VFIO)),
        Act(f"VF {free} is bound to iavf again", partial(laid.rebind, free, "iavf")),
        Act(f"VF {on_iavf}: its interface moves into the pod", partial(laid.move_netdev_to_pod, on_iavf), False),
        Act(f"VF {on_iavf}: its interface comes back", partial(laid.return_netdev, on_iavf), False),
        Act(f"VF {on_vfio}, which a pod holds, is unplugged", partial(laid.remove_function, on_vfio)),
        Act(f"PF {_PF} gets 0 VFs", partial(laid.remove_vfs, _PF)),
        Act(f"PF {_PF} gets 8 VFs, all of them on iavf", partial(laid.create_vfs, _PF, 8, driver="iavf")),
    )
