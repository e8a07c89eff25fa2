"""Random configurations that are valid, with values that occur on random hosts."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.fuzz.hosts import BUSES

Object = dict[str, Any]

_PFS = [f"ens{bus}f0" for bus in BUSES]
_ADDRESSES = [f"0000:{bus}:{slot}" for bus in BUSES for slot in ("00.0", "01.0", "01.1", "01.2")]


def _some(*values: object) -> SearchStrategy[list[object]]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True)


_CONDITIONS: dict[str, SearchStrategy[Any]] = {
    "vendors": _some("8086", "15b3", "1af4"),
    "devices": _some("1889", "101d", "1592", "0d5c"),
    "drivers": _some("vfio-pci", "mlx5_core", "iavf", "igb_uio"),
    "pciAddresses": _some(*_ADDRESSES),
    "linkTypes": _some("ether", "infiniband"),
    "numaNodes": _some(0, 1),
    "pfNames": _some(*_PFS, f"{_PFS[0]}#0-1", f"{_PFS[1]}#1", "re:ens.*", "re:.*f0#0,2", "upper0"),
    "rootDevices": _some(*(f"0000:{bus}:00.0{r}" for bus in BUSES for r in ("", "#0", "#84-90"))),
}
_NETWORK: dict[str, SearchStrategy[Any]] = {"pKeys": _some("0x7fff", "0xffff"), "isRdma": st.just(True)}
_OF_TYPE: dict[str, dict[str, SearchStrategy[Any]]] = {
    "netDevice": {**_NETWORK, "vfOnly": st.just(True), "ddpProfiles": _some("COMMS")},
    "auxNetDevice": {**_NETWORK, "auxTypes": _some("sf")},
    "accelerator": {"vfOnly": st.just(True), "acpiIndexes": _some("1")},
}


_USES: list[Object] = [{"vdpaType": "vhost"}, {"isRdma": True}, {"vdpaType": "virtio", "needVhostNet": True}]
_LAST: dict[str, SearchStrategy[list[Object]]] = {
    "netDevice": st.permutations(_USES) | st.just([{"needVhostNet": True}]) | st.just([]),
    "auxNetDevice": st.permutations(_USES) | st.just([]),
    "accelerator": st.just([{"pciClasses": ["0b40", "12"]}]) | st.just([]),
}


@st.composite
def configs(draw: st.DrawFn) -> list[Object]:
    """Up to three pools, and one of each type after them, so that most devices are in some pool."""
    pools = [draw(_pools(f"p{number}")) for number in range(draw(st.integers(0, 3)))]
    last = [{"resourceName": t, "deviceType": t, "selectors": [*draw(uses), {}]} for t, uses in _LAST.items()]
    return [*pools, *last]


@st.composite
def _pools(draw: st.DrawFn, name: str) -> Object:
    device_type = draw(st.sampled_from(sorted(_OF_TYPE)))
    selectors = st.lists(_selectors(device_type), min_size=1, max_size=2)
    pool: Object = {"resourceName": name, "deviceType": device_type, "selectors": draw(selectors)}
    for policy in draw(st.sets(st.sampled_from(("excludeTopology", "iommufd")))):
        pool[policy] = True
    return pool


@st.composite
def _selectors(draw: st.DrawFn, device_type: str) -> Object:
    known = {**_CONDITIONS, **_OF_TYPE[device_type]}
    chosen = draw(st.sets(st.sampled_from(sorted(known)), max_size=2))
    selector = {**draw(_options(device_type)), **{key: draw(known[key]) for key in sorted(chosen)}}
    if "isRdma" in selector:
        selector.pop("vdpaType", None)
    if draw(st.integers(0, 3)) == 0:
        excluded = draw(st.sampled_from(sorted(_CONDITIONS)))
        selector["exclude"] = [{excluded: draw(_CONDITIONS[excluded])}]
    return selector


def _options(device_type: str) -> SearchStrategy[Object]:
    """What devices are used with."""
    if device_type == "accelerator":
        return st.sampled_from(({}, {}, {"pciClasses": ["0b40", "12"]}, {"allowHostUse": True}))
    return st.sampled_from(
        (
            {},
            {},
            {"isRdma": True},
            {"isRdma": True, "needVhostNet": True},
            {"needVhostNet": True},
            {"vdpaType": "vhost"},
            {"vdpaType": "virtio", "needVhostNet": True},
            {"allowHostUse": True},
        )
    )
