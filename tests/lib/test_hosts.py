"""Hosts that are this machine."""

import pytest

from registry.lib import hosts


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.9.8.7", "::1"])
def test_loopback_addresses_and_localhost_are_this_machine(host: str) -> None:
    assert hosts.is_this_machine(host)


@pytest.mark.parametrize("host", ["", "example.org", "localhost.example.org", "192.168.0.1", "127.0.0.1.test", "::2"])
def test_other_hosts_are_not_this_machine(host: str) -> None:
    assert not hosts.is_this_machine(host)
