"""The contract check itself: it fails for an answer that differs from its schema in any way."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.models import Project
from registry.services.permissions import Actor
from tests.api import contract
from tests.conftest import Api, skill_bundle
from tests.prepared import create_skill

SKILL = "/api/v1/projects/{project}/skills/{name}"
JSON = "application/json"


@pytest.fixture
def answer(project: Project, operator: Actor, api: Callable[..., Api]) -> dict[str, Any]:
    create_skill(project, skill_bundle(), by=operator)
    body: dict[str, Any] = api("read").get("/skills/greeting").json()
    return body


def check(answer: object, status: int = 200, content_type: str = JSON) -> None:
    contract.check(SKILL, "GET", status, content_type, json.dumps(answer).encode())


def test_a_real_answer_passes(answer: dict[str, Any]) -> None:
    check(answer)
    check({**answer, "hint": "An optional key."})


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: answer.update(more=1),
        lambda answer: answer.pop("digest"),
        lambda answer: answer.update(digest=None),
        lambda answer: answer.update(tokens="12"),
        lambda answer: answer.update(kind="recipe"),
        lambda answer: answer["files"][0].update(more=1),
        lambda answer: answer["files"][0].pop("size"),
        lambda answer: answer.update(approval={"by": "Ann", "at": "yesterday", "digest": "", "proposal": 1}),
    ],
    ids=["more", "less", "null", "type", "choice", "more-inside", "less-inside", "time"],
)
def test_an_answer_that_differs_from_its_schema_fails(
    answer: dict[str, Any], change: Callable[[dict[str, Any]], object]
) -> None:
    change(answer)
    with pytest.raises(AssertionError):
        check(answer)


def test_an_undocumented_status_content_type_or_error_fails(answer: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="201 is not documented"):
        check(answer, status=201)
    with pytest.raises(AssertionError, match="text/html"):
        check(answer, content_type="text/html; charset=utf-8")
    with pytest.raises(AssertionError, match="'code' is a required property"):
        check({"type": "about:blank", "title": "A", "status": 404, "detail": "B"}, 404, contract.PROBLEM_JSON)


def test_the_client_of_the_tests_checks_each_answer(answer: dict[str, Any], api: Callable[..., Api]) -> None:
    assert isinstance(api("read").client, contract.ContractClient)
