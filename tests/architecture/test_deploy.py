"""The proxy in deploy/nginx.conf masks secrets and reports errors like the site itself."""

import json
import re
from pathlib import Path

import pytest

from skillsite.logs import masked

CONF = (Path(__file__).parents[2] / "deploy" / "nginx.conf").read_text(encoding="utf-8")
RULES = re.findall(r'^ +"~\*(\S+)" "(\S+)";$', CONF, re.MULTILINE)


def logged(path: str) -> str:
    """Return the path as nginx logs it: the first matching pattern of the map applies."""
    for pattern, replacement in RULES:
        if match := re.match(pattern.replace("(?<", "(?P<"), path, re.IGNORECASE):
            return re.sub(r"\$\{?(\w+)\}?", lambda name: match[name[1]], replacement)
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
def test_the_proxy_logs_paths_like_the_site(path: str) -> None:
    assert len(RULES) == 2
    assert logged(path) == masked(path)


def test_the_proxy_logs_no_unmasked_path() -> None:
    log_format = "".join(re.findall(r"log_format masked ([^;]+);", CONF))
    assert not re.search(r"\$(request|request_uri|uri|args|query_string|http_referer)\b", log_format)
    assert re.findall(r"access_log (.+);", CONF) == ["/dev/stdout masked"]
    assert re.findall(r"error_log (.+);", CONF) == ["/dev/stderr crit"]


def test_a_request_that_is_too_large_gets_a_problem_document_from_the_proxy() -> None:
    [body] = re.findall(r"return 413 '(.+)';", CONF)
    assert (json.loads(body)["status"], json.loads(body)["code"]) == (413, "too-large")
