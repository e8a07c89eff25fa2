import pytest

from domain.errors import InvalidResourceName
from domain.resource_name import ResourceName

LONGEST_PREFIX = ".".join(["a" * 60] * 4)  # 243 characters


@pytest.mark.parametrize(
    "text",
    [
        "intel.com/sriov",
        "a/b",
        "intel.com/Sriov_net-A.1",
        f"{LONGEST_PREFIX}/x",
        f"a{LONGEST_PREFIX}/x",
        "a.b/" + 63 * "n",
    ],
)
def test_names_the_kubelet_takes_are_taken(text: str) -> None:
    assert str(ResourceName.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("sriov", "exactly one slash"),
        ("a/b/c", "exactly one slash"),
        ("x.kubernetes.io/y", "kubernetes.io"),
        ("mykubernetes.io/y", "kubernetes.io"),
        ("requests.intel.com/y", "requests."),
        (f"aa{LONGEST_PREFIX}/x", "245 characters"),
        ("Intel.com/y", "lower case"),
        ("intel..com/y", "DNS name"),
        ("-intel.com/y", "DNS name"),
        ("intel_x.com/y", "DNS name"),
        ("intel.com/" + 64 * "n", "64 characters"),
        ("intel.com/y-", "no sign"),
        ("intel.com/_y", "no sign"),
        ("intel.com/y z", "letters, digits"),
        ("intel.com/", "letters, digits"),
        ("/y", "DNS name"),
    ],
)
def test_names_the_kubelet_refuses_are_refused_with_the_rule(text: str, rule: str) -> None:
    with pytest.raises(InvalidResourceName, match=rule):
        ResourceName.parse(text)


def test_the_variable_is_upper_case_and_keeps_dashes() -> None:
    assert ResourceName.parse("my-org.example.com/net-A").variable == "PCIDEVICE_MY-ORG_EXAMPLE_COM_NET-A"
