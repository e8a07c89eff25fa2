import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidPciAddress, SriovError
from domain.pci import PciAddress


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("0000:3b:01.0", "0000:3b:01.0"),
        ("3b:01.0", "0000:3b:01.0"),
        ("0000:3B:1F.7", "0000:3b:1f.7"),
        ("10000:e1:00.0", "10000:e1:00.0"),
        ("ABCDE:00:00.1", "abcde:00:00.1"),
    ],
)
def test_an_address_is_read_in_any_form_and_written_in_one(text: str, normal: str) -> None:
    assert str(PciAddress.parse(text)) == normal


@pytest.mark.parametrize(
    "text",
    ["", "3b", "0000:3b:01", "0000:3b:01.8", "0000:3b:20.0", "000:3b:01.0", "0000:3b:01.0 ", "0000:3g:01.0", "../0"],
)
def test_what_is_no_address_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(InvalidPciAddress, match="no PCI address") as caught:
        PciAddress.parse(text)

    assert repr(text) in str(caught.value)
    assert isinstance(caught.value, SriovError)


def test_addresses_are_ordered_as_numbers_not_as_text() -> None:
    texts = ["10000:00:00.0", "0000:ff:00.0", "0000:3b:02.0", "0000:3b:01.7"]

    ordered = [str(a) for a in sorted(map(PciAddress.parse, texts))]

    assert ordered == ["0000:3b:01.7", "0000:3b:02.0", "0000:ff:00.0", "10000:00:00.0"]


@given(st.integers(0, 0xFFFFFFFF), st.integers(0, 255), st.integers(0, 31), st.integers(0, 7))
def test_what_is_written_is_read_back(domain: int, bus: int, device: int, function: int) -> None:
    address = PciAddress(domain, bus, device, function)

    assert PciAddress.parse(str(address)) == address
