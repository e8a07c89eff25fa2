"""Which names are extended resources: pkg/apis/core/v1/helper/helpers.go IsExtendedResourceName.

Written on its own, so that a mistake in the product's rule shows.
"""

import re

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_QUALIFIED = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")


def is_extended_resource(name: str) -> bool:
    domain, slash, last = name.partition("/")
    if not slash or "/" in last:
        return False
    if "kubernetes.io/" in name or name.startswith("requests."):
        return False
    # The quota system prefixes the name; the prefixed one has to be a label key.
    quota_domain = f"requests.{domain}"
    return (
        len(quota_domain) <= 253
        and _SUBDOMAIN.fullmatch(quota_domain) is not None
        and len(last) <= 63
        and _QUALIFIED.fullmatch(last) is not None
    )
