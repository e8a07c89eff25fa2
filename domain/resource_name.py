"""Names of extended resources, by the kubelet's own rule."""

import re
from dataclasses import dataclass
from typing import Final, Self

from domain.errors import InvalidResourceName

# With the "requests." that quotas put before it the prefix must be a DNS subdomain of 253 characters.
_MAX_PREFIX: Final = 244
_MAX_NAME: Final = 63
_LABEL: Final = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_DNS_NAME: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_QUALIFIED_NAME: Final = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")


@dataclass(frozen=True, slots=True, order=True)
class ResourceName:
    """The full name of an extended resource: ``prefix/name``.

    Valid as IsExtendedResourceName of pkg/apis/core/v1/helper/helpers.go says: what the kubelet would
    refuse at registration is refused here, before anything is served.
    """

    prefix: str
    name: str

    def __post_init__(self) -> None:
        if rule := _broken_rule(self.prefix, self.name):
            raise InvalidResourceName(str(self), rule)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``intel.com/sriov``.

        Raises:
            InvalidResourceName: naming the rule that the text breaks.
        """
        prefix, slash, name = text.partition("/")
        if not slash or "/" in name:
            raise InvalidResourceName(text, "expected prefix/name with exactly one slash")
        return cls(prefix, name)

    def __str__(self) -> str:
        return f"{self.prefix}/{self.name}"

    @property
    def variable(self) -> str:
        """The environment variable that lists a container's devices; ``-`` stays, as consumers expect."""
        return f"PCIDEVICE_{self.prefix}_{self.name}".replace(".", "_").upper()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variable and, where it has a ``-``, an alias that a shell can name."""
        return tuple(dict.fromkeys((self.variable, self.variable.replace("-", "_"))))


def _broken_rule(prefix: str, name: str) -> str | None:
    rules = (
        ("/" not in prefix + name, "expected prefix/name with exactly one slash"),
        ("kubernetes.io/" not in f"{prefix}/{name}", "names with kubernetes.io/ in them belong to Kubernetes"),
        (not prefix.startswith("requests."), "the prefix must not start with requests., which quotas use"),
        (len(prefix) <= _MAX_PREFIX, f"the prefix has {len(prefix)} characters, more than {_MAX_PREFIX}"),
        (_DNS_NAME.fullmatch(prefix), f"the prefix {prefix!r} must be a DNS name in lower case, as intel.com"),
        (len(name) <= _MAX_NAME, f"the part after the slash has {len(name)} characters, more than {_MAX_NAME}"),
        (_QUALIFIED_NAME.fullmatch(name), f"{name!r} must be letters, digits, -, _ and ., the ends no sign"),
    )
    return next((rule for holds, rule in rules if not holds), None)
