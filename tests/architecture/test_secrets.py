"""Every address that holds a secret is masked in our logs. `test_deploy` holds the proxy to the same."""

from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from skillsite.logs import masked


def routes(within: URLResolver, start: str = "/") -> Iterator[str]:
    for one in within.url_patterns:
        if isinstance(one, URLPattern):
            yield f"{start}{one.pattern}"
        else:
            yield from routes(one, f"{start}{one.pattern}")


WITH_A_SECRET = sorted({route.partition("<str:secret>")[0] for route in routes(get_resolver()) if ":secret>" in route})


def test_the_addresses_with_a_secret_are_these() -> None:
    assert WITH_A_SECRET == ["/account/mail/", "/invitation/", "/sign-in/", "/t/"]


@pytest.mark.parametrize("start", WITH_A_SECRET)
def test_our_log_lines_do_not_have_it(start: str) -> None:
    assert masked(f"Not Found: {start}SECRET/x") == f"Not Found: {start}***/x"
