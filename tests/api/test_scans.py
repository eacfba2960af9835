"""Scans and suppressions over the API."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.core import roles
from registry.models import Project, Scan, User
from registry.services.agents import tokens
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.skills import quarantine
from tests.api.contract import problem
from tests.conftest import Api, on_disk, skill_bundle, skill_text
from tests.prepared import create_skill, save_skill
from tests.services.footprint import nothing_left_behind
from tests.services.scans.alarming import ALARM, LINE, RULE, alarming

DIGEST = alarming().digest
PLACE: dict[str, Any] = {"digest": DIGEST, "rule": RULE, "file": "SKILL.md", "line": LINE}


@pytest.fixture
def scanned(project: Project, operator: Actor) -> Project:
    create_skill(project, alarming(), by=operator)
    return project


@pytest.fixture
def people(project: Project, person: Callable[[str], User], operator: Actor) -> Callable[[str], Api]:
    def make(role: str) -> Api:
        scopes = tuple(roles.SCOPES_OF_ROLE[role])
        return Api(project, tokens.create_token(project, user=person(role), scopes=scopes, by=operator))

    return make


@pytest.fixture
def reviewer(people: Callable[[str], Api]) -> Api:
    return people(roles.REVIEWER)


def test_a_skill_and_its_versions_have_the_result_of_the_scan(scanned: Project, api: Callable[..., Api]) -> None:
    bot = api("read", "write")
    summary = {"status": "findings", "errors": 0, "warnings": 1}
    assert bot.get("/skills/greeting").json()["scan"] == summary
    assert bot.get("/skills/greeting", version="1").json()["scan"] == summary
    assert bot.get("/skills/greeting/versions").json()["results"][0]["scan"] == summary


def test_a_version_that_was_not_scanned_yet_has_no_result(scanned: Project, api: Callable[..., Api]) -> None:
    Scan.objects.update(scanner="", status="partial")
    bot = api("read", "write")
    assert bot.get("/skills/greeting").json()["scan"] is None
    assert bot.get("/skills/greeting/versions").json()["results"][0]["scan"] is None


def test_the_scan_of_a_skill_lists_its_findings(scanned: Project, api: Callable[..., Api]) -> None:
    scan = api("read").get("/skills/Greeting/scan").json()
    assert (scan["digest"], scan["status"], scan["deep"], scan["unread"]) == (DIGEST, "findings", False, [])
    (finding,) = scan["findings"]
    assert (finding["rule"], finding["line"], finding["category"]) == (RULE, LINE, "security")
    assert (finding["suppression"], finding["blocks"]) == (None, False)


def test_an_older_version_has_its_own_scan(scanned: Project, operator: Actor, api: Callable[..., Api]) -> None:
    save_skill(scanned, "greeting", skill_bundle(), base=DIGEST, by=operator)
    bot = api("read")
    assert bot.get("/skills/greeting/scan").json()["status"] == "none"
    assert bot.get("/skills/greeting/scan", version="1").json()["status"] == "findings"


def test_a_built_in_skill_is_scanned_by_the_fast_rules(
    project: Project, library: Path, api: Callable[..., Api]
) -> None:
    on_disk(library, "built-in", body=ALARM)
    scan = api("read").get("/skills/built-in/scan").json()
    assert (scan["status"], scan["scanned_at"], [each["rule"] for each in scan["findings"]]) == (
        "findings", None, [RULE],
    )  # fmt: skip


def test_the_scan_of_a_quarantined_version_is_refused_to_agents(
    scanned: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    quarantine.quarantine(scanned, "greeting", "1", reason="Odd.", by=operator)
    problem(api("read").get("/skills/greeting/scan"), 404, "quarantined")


@pytest.mark.parametrize("path", ["/skills/nothing/scan", "/skills/greeting/scan?version=9"])
def test_an_unknown_skill_has_no_scan(scanned: Project, api: Callable[..., Api], path: str) -> None:
    problem(api("read").get(path), 404, "not-found")


def test_a_refusal_has_a_code_and_names_the_findings(
    project: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    projects.set_blocking(project, "warning", by=operator)
    bot = api("read", "write")
    answer = bot.send("POST", "/skills", {"skill_md": skill_text(body=ALARM)})
    body = problem(answer, 422, "blocked-by-scan")
    assert (body["bundle"], [each["rule"] for each in body["findings"]]) == (DIGEST, [RULE])
    assert "ask a reviewer to suppress it" in body["detail"]
    assert "skills" in bot.get("/catalog").json()
    assert bot.get("/catalog").json()["skills"] == []


def test_a_reviewer_suppresses_lists_and_ends(
    project: Project, operator: Actor, reviewer: Api, api: Callable[..., Api]
) -> None:
    projects.set_blocking(project, "warning", by=operator)
    bot = api("read", "write")
    problem(bot.send("POST", "/skills", {"skill_md": skill_text(body=ALARM)}), 422, "blocked-by-scan")
    made = reviewer.send("POST", "/suppressions", {**PLACE, "reason": "A quote.", "days": 10})
    assert made.status_code == 201
    assert (made.json()["reason"], made.json()["by"], made.json()["ended_at"]) == ("A quote.", "reviewer", None)
    assert bot.send("POST", "/skills", {"skill_md": skill_text(body=ALARM)}).status_code == 201
    (finding,) = bot.get("/skills/greeting/scan").json()["findings"]
    assert (finding["suppression"]["id"], finding["blocks"]) == (made.json()["id"], False)
    assert reviewer.get("/suppressions").json()["results"] == [made.json()]
    assert reviewer.send("DELETE", f"/suppressions/{made.json()['id']}").status_code == 204
    (finding,) = bot.get("/skills/greeting/scan").json()["findings"]
    assert (finding["suppression"], finding["blocks"]) == (None, True)
    assert reviewer.get("/suppressions").json()["results"][0]["ended_at"] is not None


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/suppressions"), ("DELETE", "/suppressions/1"), ("GET", "/suppressions")]
)
def test_agents_and_authors_may_not_see_or_change_suppressions(
    scanned: Project, api: Callable[..., Api], people: Callable[[str], Api], method: str, path: str
) -> None:
    callers = [api("read", "write", "propose"), people(roles.AUTHOR)]
    with nothing_left_behind():
        for caller in callers:
            body = {**PLACE, "reason": "A quote."}
            answer = caller.get(path) if method == "GET" else caller.send(method, path, body)
            problem(answer, 403, "forbidden")


@pytest.mark.parametrize(
    "change",
    [
        {"reason": ""}, {"reason": "x" * 301}, {"reason": None}, {"days": 0}, {"days": 366}, {"days": "long"},
        {"line": 0}, {"line": -1}, {"digest": "x" * 72}, {"rule": ""}, {"more": 1},
    ],
)  # fmt: skip
def test_an_invalid_suppression_is_refused(scanned: Project, reviewer: Api, change: dict[str, Any]) -> None:
    with nothing_left_behind():
        answer = reviewer.send("POST", "/suppressions", {**PLACE, "reason": "A quote.", **change})
        problem(answer, 400, "invalid-request")


@pytest.mark.parametrize(
    "change", [{"digest": f"sha256:{'0' * 64}"}, {"rule": "other"}, {"file": "a.md"}, {"line": 7}, {"line": None}]
)
def test_only_a_finding_of_a_scan_can_be_suppressed(scanned: Project, reviewer: Api, change: dict[str, Any]) -> None:
    with nothing_left_behind():
        answer = reviewer.send("POST", "/suppressions", {**PLACE, "reason": "A quote.", **change})
        problem(answer, 404, "not-found")


@pytest.mark.parametrize("number", ["999", "0", "x", "1.5"])
def test_an_unknown_suppression_cannot_end(scanned: Project, reviewer: Api, number: str) -> None:
    with nothing_left_behind():
        problem(reviewer.send("DELETE", f"/suppressions/{number}"), 404, "not-found")


def test_a_proposal_has_the_scan_of_its_result_and_a_blocked_approval_says_why(
    project: Project, operator: Actor, reviewer: Api, api: Callable[..., Api]
) -> None:
    projects.set_blocking(project, "warning", by=operator)
    bot = api("read", "propose")
    body = {"skill": "greeting", "skill_md": skill_text(body=ALARM), "justification": "New."}
    proposal = bot.send("POST", "/proposals", body).json()
    shown = reviewer.get(f"/proposals/{proposal['id']}").json()
    assert [each["blocks"] for each in shown["scan"]["findings"]] == [True]
    digest = proposal["result_digest"]
    with nothing_left_behind():
        answer = reviewer.send("POST", f"/proposals/{proposal['id']}/approve", {"result_digest": digest})
        problem(answer, 422, "blocked-by-scan")
    reviewer.send("POST", "/suppressions", {**PLACE, "digest": digest, "reason": "A quote."})
    answer = reviewer.send("POST", f"/proposals/{proposal['id']}/approve", {"result_digest": digest})
    assert (answer.status_code, answer.json()["state"]) == (200, "approved")
