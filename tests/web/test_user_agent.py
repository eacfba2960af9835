"""Descriptions of browsers, and the addresses of their requests."""

from typing import Any

import pytest

from registry.web import user_agent
from tests.web.account.signing_in import FIREFOX


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/140 Safari/537 Edg/140", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19 Mobile Safari/604", "Safari on iOS"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/140 Mobile Safari/537", "Chrome on Android"),
        ("curl/8.1", "curl/8.1"),
        ("", ""),
        ("<script>" * 50, ("<script>" * 50)[:60]),
    ],
)  # fmt: skip
def test_a_session_is_described_by_its_user_agent(header: str, said: str) -> None:
    assert user_agent.describe(header) == said


@pytest.mark.parametrize(
    ("behind", "header", "said"),
    [
        (False, "203.0.113.9", "127.0.0.1"),
        (True, "203.0.113.9, 198.51.100.4", "198.51.100.4"),
        (True, "203.0.113.9, 198.51.100.4:50123", "198.51.100.4"),
        (True, "[2001:db8::1]:50123", "2001:db8::1"),
        (True, "2001:db8::1", "2001:db8::1"),
        (True, "", "127.0.0.1"),
    ],
)
def test_a_forwarded_address_counts_only_behind_a_proxy(
    rf: Any, settings: Any, behind: bool, header: str, said: str
) -> None:
    settings.BEHIND_PROXY = behind
    assert user_agent.address(rf.get("/", headers={"X-Forwarded-For": header})) == said
