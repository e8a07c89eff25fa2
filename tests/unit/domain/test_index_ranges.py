import pytest

from domain.errors import InvalidIndexRanges
from domain.index_ranges import IndexRanges


@pytest.mark.parametrize(
    ("entry", "name", "indices"),
    [
        ("ens1f0", "ens1f0", set(range(10))),
        ("ens1f0#0", "ens1f0", {0}),
        ("ens1f0#0,2-4,7", "ens1f0", {0, 2, 3, 4, 7}),
        ("ens1f0#8-9", "ens1f0", {8, 9}),
        ("0000:3b:00.0#3-3", "0000:3b:00.0", {3}),
    ],
)
def test_indices_and_ranges_choose_vfs(entry: str, name: str, indices: set[int]) -> None:
    """Case D07."""
    found, ranges = IndexRanges.split(entry)

    assert found == name
    assert {index for index in range(10) if index in ranges} == indices


@pytest.mark.parametrize("entry", ["e#5-3", "e#x", "e#", "e#1,", "e#-1", "e#1-2-3", "#1", "", "e#1#2"])
def test_what_lists_no_indices_is_refused_with_the_entry(entry: str) -> None:
    """Case D07."""
    with pytest.raises(InvalidIndexRanges) as caught:
        IndexRanges.split(entry)

    assert repr(entry) in str(caught.value)


def test_a_pf_itself_is_in_no_range_but_in_the_whole() -> None:
    assert None not in IndexRanges.split("e#0-3")[1]
    assert None in IndexRanges.split("e")[1]
