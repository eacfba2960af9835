"""Whether an IP address is one of the public internet, so that no request of ours reaches into a private network."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

# Written out rather than left to `is_global`, whose answer for some of these depends on the version of Python.
_NOT_PUBLIC_4 = [
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' own; a cloud keeps its metadata here
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's own, on an address that looks public
        "169.254.0.0/16",  # link-local, and where most clouds keep their metadata
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
        "2001::/23",  # protocols, among them tunnels with another address inside
        "2001:db8::/32",
        "2002::/16",  # tunnels with another address inside
        "3fff::/20",
        "2620:4f:8000::/48",
    )
]
_TRANSLATED = IPv6Network("64:ff9b::/96")  # what a network without IPv4 sees of the IPv4 internet


def is_public(address: Address | str) -> bool:
    """No private, loopback, link-local, multicast, reserved or documentation address, however it is written."""
    found = _parsed(address)
    if found is None:
        return False
    if isinstance(found, IPv4Address):
        return not any(found in network for network in _NOT_PUBLIC_4)
    inside = found.ipv4_mapped or (_last_four(found) if found in _TRANSLATED else None)
    if inside is not None:
        return is_public(inside)
    return found in _UNICAST_6 and not any(found in network for network in _NOT_PUBLIC_6)


def _parsed(address: Address | str) -> Address | None:
    """What is no address at all is no public one either."""
    if not isinstance(address, str):
        return address
    try:
        return ip_address(address.partition("%")[0])
    except ValueError:
        return None


def _last_four(address: IPv6Address) -> IPv4Address:
    return IPv4Address(address.packed[-4:])
