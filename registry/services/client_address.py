"""Where a request comes from, as far as it can be believed."""

import ipaddress
from collections.abc import Mapping
from typing import Any

from django.conf import settings


def address(meta: Mapping[str, Any]) -> str:
    """The peer; behind a proxy the operator vouches for, the last address that proxy wrote down."""
    if settings.BEHIND_PROXY:
        forwarded = str(meta.get("HTTP_X_FORWARDED_FOR", "")).rsplit(",", 1)[-1].strip()
        return (forwarded or str(meta.get("REMOTE_ADDR", "")))[:45]
    return str(meta.get("REMOTE_ADDR", ""))[:45]


def network(address: str) -> str:
    """Whom a count is for: a subscriber has a whole /64 of IPv6 addresses, and gets no count for each of them."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if known.version == 4:
        return str(known)
    return str(known.ipv4_mapped or ipaddress.ip_network((known, 64), strict=False))
