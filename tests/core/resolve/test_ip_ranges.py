"""Public and private IP addresses."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.resolve import ip_ranges
from tests import effort

PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "223.255.255.255"]
NOT_PUBLIC = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",  # noqa: S104
    "168.63.129.16", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1",
    "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1",
    "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "100::1", "2001:db8::1",
    "2001::1", "2002:7f00:1::", "2002:0808:0808::1", "3fff::1", "64:ff9b:1::808:808", "5f00::1", "::7f00:1",
]  # fmt: skip
NO_ADDRESS = ["", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "010.0.0.1", "1.1.1.1.", " 8.8.8.8", "8.8.8.8/32"]


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert ip_ranges.is_public(address)
    assert ip_ranges.is_public(ip_address(address))


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_no_address_of_a_private_or_reserved_network_is_public(address: str) -> None:
    assert not ip_ranges.is_public(address)


@pytest.mark.parametrize("text", NO_ADDRESS)
def test_an_invalid_address_is_not_public(text: str) -> None:
    assert not ip_ranges.is_public(text)


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
@settings(max_examples=effort.examples(200))
def test_an_address_inside_another_is_judged_by_itself(inner: IPv4Address) -> None:
    public = ip_ranges.is_public(inner)
    for prefix in (0xFFFF << 32, 0x64FF9B << 96):
        assert ip_ranges.is_public(IPv6Address(prefix + int(inner))) is public


@given(st.one_of(st.integers(0, 2**32 - 1).map(IPv4Address), st.integers(0, 2**128 - 1).map(IPv6Address)))
@settings(max_examples=effort.examples(300))
def test_nothing_that_python_knows_as_private_is_public(address: IPv4Address | IPv6Address) -> None:
    private = address.is_private or address.is_loopback or address.is_link_local or address.is_multicast
    if isinstance(address, IPv4Address) and (private or address.is_reserved):
        assert not ip_ranges.is_public(address)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None and private:
        assert not ip_ranges.is_public(address)
