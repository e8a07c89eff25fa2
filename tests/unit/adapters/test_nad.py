import json

import pytest
import yaml

from adapters.nad.definition import network_attachment_definition
from domain.selectors import Drivers, LinkTypes
from tests.unit.domain.facts import pool


def test_a_definition_names_the_resource_of_its_pool() -> None:
    text = network_attachment_definition(pool("Net_A", Drivers.of(["iavf"])), "tenant")

    definition = yaml.safe_load(text)

    assert definition["kind"] == "NetworkAttachmentDefinition"
    assert definition["metadata"]["name"] == "net-a"
    assert definition["metadata"]["namespace"] == "tenant"
    assert definition["metadata"]["annotations"] == {"k8s.v1.cni.cncf.io/resourceName": "intel.com/Net_A"}
    config = json.loads(definition["spec"]["config"])
    assert config["type"] == "sriov"
    assert "ipam" in config


def test_userspace_devices_get_no_addresses_and_infiniband_another_plugin() -> None:
    userspace = json.loads(
        network_attachment_definition(pool("dpdk", Drivers.of(["vfio-pci"])), "default", as_json=True)
    )
    infiniband = yaml.safe_load(network_attachment_definition(pool("ib", LinkTypes.of(["infiniband"])), "default"))

    assert "ipam" not in json.loads(userspace["spec"]["config"])
    assert json.loads(infiniband["spec"]["config"])["type"] == "ib-sriov"


def test_the_configuration_is_written_as_a_block_that_people_can_read() -> None:
    assert "config: |" in network_attachment_definition(pool("a"), "default")


@pytest.mark.parametrize("text", ["1e3", "12e5", "0o17", "y", "n", "on", "null", "1_000", "dpdk"])
def test_texts_that_some_yaml_takes_for_something_else_are_in_quotes(text: str) -> None:
    """kubectl reads YAML by other rules than PyYAML: 1e3 and 0o17 are numbers to it, y is true."""
    definition = network_attachment_definition(pool(text), text)

    assert f'namespace: "{text}"\n' in definition
    assert f'name: "{text.replace("_", "-")}"\n' in definition
    assert f'resourceName: "intel.com/{text}"\n' in definition
    assert yaml.safe_load(definition) == json.loads(network_attachment_definition(pool(text), text, as_json=True))
