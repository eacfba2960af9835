"""Log lines mask the secret of every URL that contains one. `test_deploy` checks the proxy."""

from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from skillsite import logs
from skillsite.logs import masked


def routes(within: URLResolver, start: str = "/") -> Iterator[str]:
    for entry in within.url_patterns:
        if isinstance(entry, URLPattern):
            yield f"{start}{entry.pattern}"
        else:
            yield from routes(entry, f"{start}{entry.pattern}")


WITH_A_SECRET = sorted({route.partition("<str:secret>")[0] for route in routes(get_resolver()) if ":secret>" in route})


def test_these_urls_contain_a_secret() -> None:
    assert WITH_A_SECRET == ["/account/mail/", "/invitation/", "/sign-in/", "/t/"]


@pytest.mark.parametrize("start", WITH_A_SECRET)
def test_log_lines_mask_the_secret(start: str) -> None:
    assert masked(f"Not Found: {start}SECRET/x") == f"Not Found: {start}***/x"


def test_log_lines_mask_configured_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_hidden", [])
    logs.hide(["token-of-ledger", "token-of-ledger-2", "short", ""])
    line = "Sent token-of-ledger, token-of-ledger-2 and a short text to the ledger."
    assert masked(line) == "Sent ***, *** and a short text to the ledger."
