"""The proxy of docker-compose.yml keeps what the site itself promises."""

import json
import re
from pathlib import Path

import pytest

from skillsite.logs import masked

CONF = (Path(__file__).parents[2] / "deploy" / "nginx.conf").read_text(encoding="utf-8")
RULES = re.findall(r'^ +"~\*(\S+)" "(\S+)";$', CONF, re.MULTILINE)


def logged(path: str) -> str:
    """What nginx makes of it: the first pattern of the map that fits."""
    for pattern, said in RULES:
        if match := re.match(pattern.replace("(?<", "(?P<"), path, re.IGNORECASE):
            return re.sub(r"\$\{?(\w+)\}?", lambda name: match[name[1]], said)
    return path


@pytest.mark.parametrize(
    "path",
    [
        "/t/sks_abc-DEF_123/mcp",
        "/t/anything-else/.well-known/agent-skills/index.json",
        "/sign-in/cC_ZpZhQd-36/",
        "/invitation/cC_ZpZhQd-36/",
        "/account/mail/cC_ZpZhQd-36/",
        "/api/v1/projects/demo/skills/sks_abc-DEF_123",
        "/api/v1/projects/demo/catalog",
        "/sign-in/",
        "/",
    ],
)
def test_the_proxy_writes_addresses_as_the_site_does(path: str) -> None:
    assert len(RULES) == 2
    assert logged(path) == masked(path)


def test_the_proxy_writes_no_address_in_any_other_way() -> None:
    written = "".join(re.findall(r"log_format masked ([^;]+);", CONF))
    assert not re.search(r"\$(request|request_uri|uri|args|query_string|http_referer)\b", written)
    assert re.findall(r"access_log (.+);", CONF) == ["/dev/stdout masked"]
    assert re.findall(r"error_log (.+);", CONF) == ["/dev/stderr crit"]


def test_what_the_proxy_refuses_is_a_problem_like_those_of_the_site() -> None:
    [said] = re.findall(r"return 413 '(.+)';", CONF)
    assert (json.loads(said)["status"], json.loads(said)["code"]) == (413, "too-large")
