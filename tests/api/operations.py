"""Requests to most operations of the API, in a project that has the skill greeting."""

from typing import Any

from tests.conftest import Api

READS = [
    "/catalog",
    "/catalog?format=text",
    "/catalog?format=xml",
    "/effective",
    "/diagnostics",
    "/skills/greeting",
    "/skills/greeting?version=1",
    "/skills/greeting/files/SKILL.md",
    "/skills/greeting/files/a.txt?download=1",
    "/skills/greeting/bundle.zip",
    "/skills/greeting/versions",
]
WRITES = [
    ("POST", "/skills"),
    ("PUT", "/skills/greeting"),
    ("DELETE", "/skills/greeting"),
    ("POST", "/bundles"),
    ("POST", "/skills/greeting/versions/1/restore"),
    ("POST", "/skills/greeting/versions/1/yank"),
    ("POST", "/skills/greeting/disable"),
    ("POST", "/skills/greeting/enable"),
]


def every_response(caller: Api) -> list[Any]:
    return [*(caller.get(path) for path in READS), *(caller.send(method, path, {}) for method, path in WRITES)]
