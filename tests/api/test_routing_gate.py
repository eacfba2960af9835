"""The routing gate over the API: refusals with a stable code, and a reason that only people can give."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.core import roles
from registry.core.archive.zip_bundle import write_zip
from registry.core.bundle import SKILL_MD
from registry.core.text import edits
from registry.models import Event, Project, User
from registry.services.agents import tokens
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills
from tests.api.contract import problem
from tests.conftest import Api
from tests.prepared import proposing_agent
from tests.services.routing.gated import ELSEWHERE, QUESTIONS, bundle, gated_project

REASON = "Parcels moved to another team."
BAD = bundle("desk", ELSEWHERE)
TEXT = BAD[SKILL_MD].decode()
MATCH = {"If-Match": f'"{bundle().digest}"'}
Call = Callable[[Api, dict[str, str]], Any]
CALLS: dict[str, Call] = {
    "save": lambda api, more: api.send("PUT", "/skills/desk", {"skill_md": TEXT, **more}, MATCH),
    "upload": lambda api, more: api.upload(write_zip(BAD), **more),
}


@pytest.fixture
def gated(project: Project, operator: Actor) -> Project:
    return gated_project(project, operator)


@pytest.fixture
def people(gated: Project, person: Callable[[str], User], operator: Actor) -> Callable[[str], Api]:
    def make(role: str) -> Api:
        scopes = ["read", "propose", "write", *(["review"] if role == roles.REVIEWER else [])]
        return Api(gated, tokens.create_token(gated, user=person(role), scopes=scopes, by=operator))

    return make


@pytest.mark.parametrize("call", CALLS)
def test_a_change_that_loses_questions_is_a_conflict(people: Callable[[str], Api], call: str) -> None:
    author = people(roles.AUTHOR)
    body = problem(CALLS[call](author, {}), 409, "routing-gate")
    assert (body["field"], body["lost"]) == ("gate_reason", len(QUESTIONS["desk"]))
    assert any("Worse than the baseline" in reason for reason in body["reasons"])
    assert {each["rule"] for each in body["findings"]} == {"routing-gate"}
    assert CALLS[call](author, {"gate_reason": REASON}).status_code in (200, 201)
    assert Event.objects.order_by("-pk")[0].data["gate_reason"] == REASON


@pytest.mark.parametrize("call", CALLS)
def test_an_agent_gets_no_question_and_cannot_override(gated: Project, api: Callable[..., Api], call: str) -> None:
    bot = api("read", "write")
    body = problem(CALLS[call](bot, {"gate_reason": REASON}), 409, "routing-gate")
    assert "findings" not in body
    assert not any(query in str(body) for query in QUESTIONS["desk"])


def test_a_reason_that_is_too_long_is_refused(people: Callable[[str], Api]) -> None:
    body = problem(CALLS["save"](people(roles.AUTHOR), {"gate_reason": "x" * 301}), 400, "invalid-request")
    assert body["field"] == "gate_reason"


def test_a_version_is_restored_with_a_reason(gated: Project, operator: Actor, people: Callable[[str], Api]) -> None:
    skills.save(gated, "desk", BAD, base=bundle().digest, gate_reason=REASON, by=operator)
    skills.save(gated, "desk", bundle(), base=BAD.digest, by=operator)
    author, path = people(roles.AUTHOR), "/skills/desk/versions/2/restore"
    problem(author.send("POST", path, {}), 409, "routing-gate")
    assert author.send("POST", path, {"gate_reason": REASON}).status_code == 201


def test_a_proposal_is_approved_with_a_reason(gated: Project, operator: Actor, people: Callable[[str], Api]) -> None:
    bot = proposing_agent(gated, "bot", operator)
    suggestion = Suggestion("desk", edits.parse(skill_md=TEXT), "It is nicer.")
    made = proposals.propose(gated, suggestion, by=bot).proposal
    reviewer, path = people(roles.REVIEWER), f"/proposals/{made.pk}/approve"
    sent = {"result_digest": made.result_digest}
    problem(reviewer.send("POST", path, sent), 409, "routing-gate")
    assert reviewer.send("POST", path, {**sent, "gate_reason": REASON}).json()["state"] == "approved"
