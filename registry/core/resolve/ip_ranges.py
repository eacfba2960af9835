"""Public IP addresses, so that no request reaches a private network."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

# Listed here, because the result of `is_global` depends on the version of Python for some of these.
_NOT_PUBLIC_4 = [
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT; metadata of a cloud
        "127.0.0.0/8",
        "168.63.129.16/32",  # internal service of a cloud, although it looks public
        "169.254.0.0/16",  # link-local, and the metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and the broadcast address
    )
]
_UNICAST_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = [
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocols, for example tunnels with an embedded address
        "2001:db8::/32",
        "2002::/16",  # tunnels with an embedded address
        "3fff::/20",
        "2620:4f:8000::/48",
    )
]
_TRANSLATED = IPv6Network("64:ff9b::/96")  # NAT64: IPv4 addresses in a network without IPv4


def is_public(address: Address | str) -> bool:
    """Return whether an address is public: not private, loopback, link-local, multicast, reserved or documentation."""
    parsed = _parse(address)
    if parsed is None:
        return False
    if isinstance(parsed, IPv4Address):
        return not any(parsed in network for network in _NOT_PUBLIC_4)
    embedded = parsed.ipv4_mapped or (_last_four(parsed) if parsed in _TRANSLATED else None)
    if embedded is not None:
        return is_public(embedded)
    return parsed in _UNICAST_6 and not any(parsed in network for network in _NOT_PUBLIC_6)


def _parse(address: Address | str) -> Address | None:
    if not isinstance(address, str):
        return address
    try:
        return ip_address(address.partition("%")[0])
    except ValueError:
        return None


def _last_four(address: IPv6Address) -> IPv4Address:
    return IPv4Address(address.packed[-4:])
