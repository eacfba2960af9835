"""The golden set and its evaluations over the API: for people who write, and never for agents."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.core import roles
from registry.core.routing import golden_files
from registry.core.routing.golden import Case
from registry.models import Evaluation, GoldenCase, Project, User
from registry.services.agents import tokens
from registry.services.permissions import Actor
from tests.conftest import Api, skill_bundle
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind

CASES = [
    {"query": "greeting", "expected": ["greeting"]},
    {"query": "Rain?", "expected": [], "category": "negative", "note": "Weather"},
]


@pytest.fixture
def writer(project: Project, person: Callable[[str], User], operator: Actor) -> Api:
    create_skill(project, skill_bundle("greeting", description="Greet people. Use to greet."), by=operator)
    return Api(project, tokens.create_token(project, user=person(roles.AUTHOR), scopes=["read", "write"], by=operator))


def test_cases_are_added_listed_changed_and_deleted(writer: Api) -> None:
    answer = writer.send("POST", "/evals/cases", {"cases": CASES})
    assert answer.status_code == 201
    assert [answer.json()[key] for key in ("added", "replaced", "unchanged")] == [2, 0, 0]
    listed = writer.get("/evals/cases?limit=1").json()
    [first] = listed["results"]
    assert (first["query"], first["expected"], first["category"], first["stale"]) == (
        "greeting", ["greeting"], "positive", None,
    )  # fmt: skip
    second = writer.get(listed["next"].partition("/demo")[2]).json()["results"][0]
    assert second["note"] == "Weather"
    path = f"/evals/cases/{first['id']}"
    changed = writer.send("PUT", path, {"query": "Say hello", "expected": ["gone"], "acceptable": ["greeting"]})
    assert (changed.json()["query"], changed.json()["stale"]) == ("Say hello", "There is no skill gone.")
    assert writer.send("DELETE", path).status_code == 204
    assert [case["query"] for case in writer.get("/evals/cases").json()["results"]] == ["Rain?"]


def test_an_exported_golden_file_can_be_posted(writer: Api) -> None:
    file = golden_files.to_json("demo", [Case("Hello?", ("greeting",)), Case("Rain?")])
    assert writer.send("POST", "/evals/cases", file).json()["added"] == 2


def test_a_run_is_answered_stored_and_listed(writer: Api) -> None:
    writer.send("POST", "/evals/cases", {"cases": [*CASES, {"query": "Old?", "expected": ["gone"]}]})
    report = writer.send("POST", "/evals/run").json()
    assert (report["cases"], report["p_at_1"], report["mrr"], report["false_triggers"]) == (2, 1.0, 1.0, 0.0)
    assert (report["passed"], report["verdict"]) == (False, "fail")
    assert report["reasons"] == ["2 test questions could be judged, and at least 8 are needed."]
    assert [one["verdict"] for one in report["outcomes"]] == ["correct_trigger", "true_negative"]
    assert [(one["query"], one["skills"]) for one in report["stale"]] == [("Old?", ["gone"])]
    assert report["confusion"] == [
        {"expected": None, "picked": None, "count": 1},
        {"expected": "greeting", "picked": "greeting", "count": 1},
    ]
    [run] = writer.get("/evals/runs").json()["results"]
    assert (run["id"], run["cases"], run["verdict"], run["by"]) == (report["id"], 2, "fail", "author")


def test_a_run_without_cases_has_no_verdict(writer: Api) -> None:
    report = writer.send("POST", "/evals/run", {}).json()
    assert (report["cases"], report["p_at_1"], report["passed"], report["verdict"]) == (0, None, None, "no verdict")


@pytest.mark.parametrize(
    ("body", "field", "index"),
    [
        ([], "cases", None),
        ({"cases": []}, "cases", None),
        ({"cases": "x"}, "cases", None),
        ({"cases": [CASES[0]] * 501}, "cases", None),
        ({"cases": CASES, "more": 1}, "cases", None),
        ({"cases": [CASES[0], {"query": "x", "expceted": []}]}, "expceted", 1),
        ({"cases": [CASES[0], 3]}, None, 1),
        ({"cases": [CASES[0], {"expected": []}]}, "query", 1),
        ({"cases": [CASES[0], {"query": " ", "expected": []}]}, "query", 1),
        ({"cases": [CASES[0], {"query": "x"}]}, "expected", 1),
        ({"cases": [CASES[0], {"query": "x", "expected": [True]}]}, "expected", 1),
        ({"cases": [CASES[0], {"query": "x", "expected": [], "acceptable": 3}]}, "acceptable", 1),
        ({"cases": [CASES[0], {"query": "x", "expected": [], "category": "odd"}]}, "category", 1),
        ({"cases": [CASES[0], {"query": "x", "expected": [], "note": "n" * 301}]}, "note", 1),
        ({"cases": [CASES[0], {"query": "GREETING", "expected": []}]}, "query", 1),
    ],
)
def test_a_bad_case_is_named_and_nothing_is_saved(writer: Api, body: Any, field: str | None, index: int | None) -> None:
    with nothing_left_behind():
        answer = writer.send("POST", "/evals/cases", body)
    assert (answer.status_code, answer.json().get("field"), answer.json().get("index")) == (400, field, index)
    assert index is None or f"cases[{index}]" in answer.json()["detail"]
    assert "file" not in answer.json()["detail"]  # nobody sent one


@pytest.mark.parametrize("body", [{"query": "x"}, {"query": "", "expected": []}, {"query": "x", "odd": 1}, [], 3])
def test_an_error_in_one_changed_case_names_no_list(writer: Api, body: Any) -> None:
    path = f"/evals/cases/{writer.send('POST', '/evals/cases', {'cases': CASES}).json()['cases'][0]['id']}"
    with nothing_left_behind():
        answer = writer.send("PUT", path, body)
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("The test question: ")


def test_a_run_has_no_fields(writer: Api) -> None:
    answer = writer.send("POST", "/evals/run", {"learn": False})
    assert (answer.status_code, answer.json()["detail"]) == (400, "Unknown field: learn. This request has no fields.")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/evals/cases"),
        ("POST", "/evals/cases"),
        ("PUT", "/evals/cases/1"),
        ("DELETE", "/evals/cases/1"),
        ("POST", "/evals/run"),
        ("GET", "/evals/runs"),
    ],
)
def test_agents_are_refused_even_if_they_may_write(
    project: Project, api: Callable[..., Api], method: str, path: str
) -> None:
    agent = api("read", "propose", "write")
    body = {"cases": CASES} if path == "/evals/cases" else CASES[0] if method == "PUT" else None
    with nothing_left_behind():
        answer = agent.get(path) if method == "GET" else agent.send(method, path, body)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert not GoldenCase.objects.exists()
    assert not Evaluation.objects.exists()


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize("number", ["0", "999999", "x", "-1", "9" * 30])
def test_an_unknown_case_is_not_found(writer: Api, method: str, number: str) -> None:
    with nothing_left_behind():
        answer = writer.send(method, f"/evals/cases/{number}", CASES[0] if method == "PUT" else None)
    assert answer.status_code == 404
