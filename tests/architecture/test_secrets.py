"""Every address that holds a secret is masked in each log: in ours, and in that of the proxy we ship."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver

from skillsite.logs import masked

NGINX = Path(settings.BASE_DIR) / "deploy" / "nginx.conf"


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


@pytest.mark.parametrize("start", WITH_A_SECRET)
def test_the_log_of_the_proxy_does_not_have_it(start: str) -> None:
    pattern = re.search(r"map \$uri \$path \{\s*~(\S+) \$start\*\*\*\$rest;", NGINX.read_text())
    assert pattern
    python = pattern[1].replace("(?<", "(?P<")
    assert re.sub(python, r"\g<start>***\g<rest>", f"{start}SECRET/x") == f"{start}***/x"


def test_the_proxy_writes_down_nothing_else_that_may_hold_it() -> None:
    """Its names for the request as it came, in whichever log, and the level from which it logs such lines itself."""
    logged = "".join(re.findall(r"log_format masked ([^;]+);", NGINX.read_text()))
    assert "$path" in logged
    assert not re.search(r"\$(request|request_uri|uri|args|query_string|http_referer)\b", logged)
    assert re.findall(r"^\s*(?:access|error)_log .*", NGINX.read_text(), re.MULTILINE) == [
        "error_log /dev/stderr crit;",
        "  access_log /dev/stdout masked;",
    ]
