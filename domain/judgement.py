"""Whether a device of a pool can be handed out, by the pool's health policy."""

from domain.exposure import fault
from domain.health import HealthPolicy, link_fault
from domain.host import Host
from domain.pool import Member, PoolSpec


def device_fault(member: Member, spec: PoolSpec, host: Host) -> str | None:
    """What is wrong with the device itself and its facilities."""
    return None if spec.health.policy is HealthPolicy.OFF else fault(member, spec, host)


def judge(member: Member, spec: PoolSpec, host: Host) -> str | None:
    """What is wrong at this moment, its PF's link included where the pool minds it."""
    found = device_fault(member, spec, host)
    if found is None and spec.health.policy is HealthPolicy.LINK:
        found = link_fault(member.device)
    return found
