"""The network address of a client, as far as it can be trusted."""

import ipaddress
from collections.abc import Mapping
from typing import Any

from django.conf import settings


def address(meta: Mapping[str, Any]) -> str:
    """Return the peer's address, or with BEHIND_PROXY the last one in X-Forwarded-For, which the proxy wrote."""
    if settings.BEHIND_PROXY:
        forwarded = str(meta.get("HTTP_X_FORWARDED_FOR", "")).rsplit(",", 1)[-1].strip()
        return (_without_port(forwarded) or str(meta.get("REMOTE_ADDR", "")))[:45]
    return str(meta.get("REMOTE_ADDR", ""))[:45]


def _without_port(text: str) -> str:
    """Return the host of `192.0.2.1:5000` or `[2001:db8::1]:5000`, as some proxies write them."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


def network(address: str) -> str:
    """Return the unit that limits count by: an IPv4 address, or the /64 network that one IPv6 subscriber owns."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if known.version == 4:
        return str(known)
    return str(known.ipv4_mapped or ipaddress.ip_network((known, 64), strict=False))
