"""Hosts in addresses."""

import ipaddress


def is_this_machine(host: str) -> bool:
    """Return whether a host is a loopback address or `localhost`. `host` has no port and no brackets."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"
