"""Bodies of create and save that are JSON but not a skill."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.models import Project
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.conftest import Api, skill_bundle, skill_text
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind


@pytest.fixture
def bot(project: Project, api: Callable[..., Api]) -> Api:
    return api("read", "write")


@pytest.fixture
def digest(project: Project, operator: Actor) -> str:
    return create_skill(project, skill_bundle(), by=operator).version.digest


BODIES: dict[str, Any] = {
    "nothing": {},
    "a list": [],
    "a text": "text",
    "a number": 5,
    "null": None,
    "both ways at once": {"skill_md": "x", "description": "y", "instructions": "z"},
    "a part alone": {"description": "y"},
    "instructions alone": {"name": "a", "instructions": "z"},
    "an unknown field": {"skill_md": "x", "version": "9"},
    "an unknown field with a lone surrogate": {"\ud800": 1},
    "text of the wrong kind": {"skill_md": {"a": 1}},
    "text that is true": {"skill_md": True},
    "a NUL": {"skill_md": "---\nname: a\ndescription: b\0\n---\n"},
    "a lone surrogate": {"skill_md": "---\nname: a\ndescription: \ud83d\n---\n"},
    "a lone surrogate in the note": {"skill_md": skill_text(), "note": "\udc00"},
    "a NUL in the note": {"skill_md": skill_text(), "note": "a\0b"},
    "a long note": {"skill_md": skill_text(), "note": "x" * 301},
    "metadata that is a list": {"description": "a", "instructions": "b", "metadata": ["x"]},
    "metadata within metadata": {"description": "a", "instructions": "b", "metadata": {"a": {"b": "c"}}},
    "metadata with a NUL": {"description": "a", "instructions": "b", "metadata": {"a": "\0"}},
}


@pytest.mark.parametrize("case", BODIES)
def test_a_body_that_is_not_a_skill_is_refused(bot: Api, digest: str, case: str) -> None:
    body = json.dumps(BODIES[case])
    with nothing_left_behind():
        problem(bot.send("POST", "/skills", body), 400, "invalid-request")
        problem(bot.send("PUT", "/skills/greeting", body, {"If-Match": f'"{digest}"'}), 400, "invalid-request")


@pytest.mark.parametrize(
    "metadata",
    [{"a\0b": "x"}, {"\ud800": "x"}, {"": "x"}, {"a\nb": "x"}, {"a: b": "c"}, {"kind": "odd"}, {"x" * 70_000: "y"}],
)
def test_odd_metadata_keys_never_cause_a_server_error(bot: Api, metadata: dict[str, str]) -> None:
    parts = {"name": "greeting", "description": "Greets. Use when needed.", "instructions": "Hi.", "metadata": metadata}
    response = bot.send("POST", "/skills", json.dumps(parts))
    assert response.status_code in (201, 400, 413, 422), response.content
    if response.status_code == 201:
        assert bot.get("/skills/greeting").status_code == 200
