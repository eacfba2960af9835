"""Answers to the questions of runs over the API: only people, only once, and only for what they saw."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from registry.core import roles
from registry.models import Event, Membership, Project, RunQuestion, User
from registry.services import permissions
from registry.services.agents import tokens
from registry.services.permissions import Actor
from registry.services.skills import quarantine, skills
from tests.api.contract import problem
from tests.api.runs.requests import decide, read, started, waiting
from tests.conftest import Api, skill_bundle
from tests.prepared import disable_skill, ensure_agent
from tests.services.workflows.conftest import CHAIN

Work = Callable[[], None]
ACTIONS = ["approve", "deny", "answer"]


def test_a_reviewer_approves_and_the_run_completes(bot: Api, reviewer: Api, work: Work) -> None:
    run = waiting(bot, work)
    [question] = run["questions"]
    assert (run["state"], question["kind"], question["step"], question["state"]) == (
        "waiting", "approve", "sign", "open")  # fmt: skip
    assert question["shown"]["input"] == {"question": "Send it?"}
    assert question["obstacle"] == "Only reviewers can answer the questions of a run."
    answer = decide(reviewer, run, "approve", comment="Fine.")
    assert (answer.status_code, answer.json()["question"]["state"]) == (200, "approved")
    work()
    found = read(bot, run)
    assert (found["state"], found["outputs"]) == ("completed", {"sent": True})
    [decided] = found["questions"]
    assert (decided["answered_by"], decided["comment"]) == ("reviewer", "Fine.")
    assert Event.objects.get(verb="question.approved").actor_name == "reviewer"


def test_a_reviewer_denies_and_the_run_ends(bot: Api, reviewer: Api, work: Work) -> None:
    run = waiting(bot, work)
    assert decide(reviewer, run, "deny", comment="Not today.").json()["question"]["state"] == "denied"
    work()
    found = read(bot, run)
    assert (found["state"], found["code"]) == ("denied", "denied")
    assert "Not today." in found["reason"]


def test_a_reviewer_gives_typed_input(bot: Api, reviewer: Api, work: Work) -> None:
    run = waiting(bot, work, "order")
    for value, says in (
        ({"number": "three"}, "number"),
        ({}, "number"),
        ({"number": 3, "colour": 1}, "colour"),
        (3, ""),
    ):
        refused = problem(decide(reviewer, run, "answer", value=value), 400, "invalid-request")
        assert says in refused["detail"]
    assert decide(reviewer, run, "answer", value={"number": 3}).status_code == 200
    work()
    assert read(bot, run)["outputs"] == {"number": 3}


def test_a_question_is_answered_once(bot: Api, reviewer: Api, people: Callable[..., Api], work: Work) -> None:
    run = waiting(bot, work)
    assert decide(reviewer, run, "approve").status_code == 200
    for caller in (reviewer, people(roles.OWNER)):
        for action in ("approve", "deny"):
            assert problem(decide(caller, run, action), 409, "already-decided")["state"] == "approved"
    assert Event.objects.filter(verb__startswith="question.").count() == 1


def test_an_old_digest_is_refused_and_the_current_one_is_given(bot: Api, reviewer: Api, work: Work) -> None:
    run = waiting(bot, work)
    for action in ("approve", "deny"):
        refused = problem(decide(reviewer, run, action, digest="sha256:" + "0" * 64), 409, "conflict")
        assert refused["digest"] == run["questions"][0]["digest"]
    assert RunQuestion.objects.get().state == "open"


def test_an_expired_question_is_not_approved(bot: Api, reviewer: Api, work: Work) -> None:
    run = waiting(bot, work)
    RunQuestion.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert problem(decide(reviewer, run, "approve"), 409, "already-decided")["state"] == "expired"


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("body", ["{not json", '{"colour": 1}', ""], ids=["no-json", "unknown-field", "empty"])
def test_permissions_are_checked_before_the_body(
    bot: Api, people: Callable[..., Api], api: Callable[..., Api], work: Work, action: str, body: str
) -> None:
    run = waiting(bot, work)
    callers = (bot, people(roles.VIEWER), people(roles.AUTHOR), people(roles.REVIEWER, roles.READ, roles.RUN))
    for caller in (*callers, api(roles.READ, roles.RUN, agent="other")):
        for number in (run["id"], 999_999):
            problem(caller.send("POST", f"/runs/{number}/{action}", body), 403, "forbidden")
    problem(people(roles.REVIEWER).send("POST", f"/runs/{run['id']}/{action}", body), 400, "invalid-request")
    assert RunQuestion.objects.get().state == "open"


def test_nobody_approves_their_own_run_and_the_refusal_names_who_can(people: Callable[..., Api], work: Work) -> None:
    owner = people(roles.OWNER)
    run = waiting(owner, work)
    assert run["questions"][0]["obstacle"].startswith("You can’t approve your own run")
    for body in ("{not json", {"question": run["questions"][0]["id"], "digest": run["questions"][0]["digest"]}):
        refused = problem(owner.send("POST", f"/runs/{run['id']}/approve", body), 403, "forbidden")
        assert refused["answerers"] == [] and "Nobody else here can approve it." in refused["detail"]
    reviewer = people(roles.REVIEWER)
    refused = problem(decide(owner, run, "approve"), 403, "forbidden")
    assert refused["answerers"] == ["reviewer"] and "These people can: reviewer." in refused["detail"]
    assert decide(reviewer, run, "approve").status_code == 200


def test_nobody_approves_a_run_of_an_agent_or_person_whose_token_they_made(
    project: Project, people: Callable[..., Api], person: Callable[[str], User], operator: Actor, work: Work
) -> None:
    owner, by = people(roles.OWNER), permissions.person(person(roles.OWNER), project)
    bot = tokens.create_token(project, agent=ensure_agent(project, "bot", by=operator), scopes=("read", "run"), by=by)
    author = tokens.create_token(project, user=person(roles.AUTHOR), scopes=("read", "run"), by=by)
    borrowed = tokens.create_token(project, user=person(roles.REVIEWER), scopes=("read", "review"), by=by)
    for secret in (bot, author):
        run = waiting(Api(project, secret), work)
        problem(decide(owner, run, "approve"), 403, "forbidden")
    mine = waiting(owner, work)
    problem(decide(Api(project, borrowed), mine, "approve"), 403, "forbidden")
    assert decide(people(roles.REVIEWER), mine, "approve").status_code == 200


def test_a_question_for_named_people_is_not_for_others(
    bot: Api, reviewer: Api, people: Callable[..., Api], work: Work
) -> None:
    run = waiting(bot, work)
    RunQuestion.objects.update(people=["owner"])
    owner = people(roles.OWNER)
    for action in ("approve", "deny"):
        assert "for other people" in problem(decide(reviewer, run, action), 403, "forbidden")["detail"]
    assert decide(owner, run, "approve").status_code == 200


def test_a_person_who_lost_the_role_cannot_answer(
    bot: Api, reviewer: Api, person: Callable[[str], User], work: Work
) -> None:
    run = waiting(bot, work)
    Membership.objects.filter(user=person(roles.REVIEWER)).update(role=roles.VIEWER)
    for action in ("approve", "deny"):
        problem(decide(reviewer, run, action), 403, "forbidden")


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"question": ...}, "question"),
        ({"question": "x"}, "question"),
        ({"question": 0}, "question"),
        ({"digest": ...}, "digest"),
        ({"digest": ""}, "digest"),
        ({"comment": 3.5e400}, "JSON"),
        ({"value": 1}, "value"),
        ({"state": "approved"}, "state"),
    ],
)
def test_a_decision_that_says_something_else_is_refused(
    bot: Api, reviewer: Api, work: Work, more: dict[str, Any], field: str
) -> None:
    run = waiting(bot, work)
    assert field in problem(decide(reviewer, run, "approve", **more), 400, "invalid-request")["detail"]
    assert RunQuestion.objects.get().state == "open"


def test_the_wrong_kind_of_answer_is_refused(bot: Api, reviewer: Api, work: Work) -> None:
    run, typed = waiting(bot, work), waiting(bot, work, "order")
    problem(decide(reviewer, run, "answer", value={"number": 1}), 400, "invalid-request")
    problem(decide(reviewer, typed, "approve"), 400, "invalid-request")
    problem(decide(reviewer, typed, "answer"), 400, "invalid-request")
    assert RunQuestion.objects.filter(state="open").count() == 2


def test_a_question_of_another_run_is_not_found(bot: Api, reviewer: Api, work: Work) -> None:
    first, second = waiting(bot, work), waiting(bot, work)
    other = second["questions"][0]
    refused = decide(reviewer, first, "approve", question=other["id"], digest=other["digest"])
    problem(refused, 404, "not-found")
    assert problem(bot.get(f"/runs/{first['id']}/questions/{other['id']}"), 404, "not-found")
    assert RunQuestion.objects.filter(state="open").count() == 2


def test_several_people_approve(bot: Api, reviewer: Api, people: Callable[..., Api], work: Work) -> None:
    run = waiting(bot, work)
    RunQuestion.objects.update(needed=2)
    first = decide(reviewer, run, "approve").json()
    assert (first["question"]["state"], first["question"]["approved_by"]) == ("open", ["reviewer"])
    assert first["changes"] > run["changes"]
    problem(decide(reviewer, run, "approve"), 409, "already-decided")
    assert decide(people(roles.OWNER), run, "approve").json()["question"]["state"] == "approved"


def test_a_run_is_cancelled(bot: Api, reviewer: Api, work: Work) -> None:
    run = waiting(bot, work)
    answer = bot.send("POST", f"/runs/{run['id']}/cancel")
    assert (answer.status_code, answer.json()["cancelled_by"]) == (202, "bot")
    work()
    found = read(bot, run)
    assert (found["state"], found["questions"][0]["state"]) == ("cancelled", "withdrawn")
    problem(bot.send("POST", f"/runs/{run['id']}/cancel"), 409, "already-decided")
    problem(decide(reviewer, run, "approve"), 409, "already-decided")


@pytest.mark.parametrize("action", ["cancel", "replay"])
def test_a_run_is_cancelled_and_replayed_only_by_those_who_may_run_it(
    bot: Api, api: Callable[..., Api], people: Callable[..., Api], work: Work, action: str
) -> None:
    run = waiting(bot, work)
    path = f"/runs/{run['id']}/{action}"
    for caller in (api(roles.READ, roles.WRITE), people(roles.VIEWER), people(roles.OWNER, roles.READ)):
        problem(caller.send("POST", path, "{not json"), 403, "forbidden")
    problem(api(roles.READ, roles.RUN, agent="other").send("POST", path, "{not json"), 404, "not-found")
    problem(bot.send("POST", path, {"force": True}), 400, "invalid-request")
    assert read(bot, run)["state"] == "waiting"


def test_a_replay_feeds_the_recorded_outputs_and_no_approvals(bot: Api, reviewer: Api, work: Work) -> None:
    run = waiting(bot, work)
    path = f"/runs/{run['id']}/replay"
    problem(bot.send("POST", path), 400, "invalid-request")
    decide(reviewer, run, "approve")
    work()
    refused = problem(bot.send("POST", path, {"from": "nowhere"}), 400, "invalid-request")
    assert (refused["field"], "sign, send" in refused["detail"]) == ("from", True)
    again = bot.send("POST", path, {"from": "sign"})
    assert (again.status_code, again.json()["replay_of"]) == (202, run["id"])
    whole = bot.send("POST", path).json()
    work()
    assert read(bot, again.json())["state"] == "waiting"
    assert (read(bot, whole)["state"], read(bot, whole)["outputs"]) == ("completed", {"sent": True})


def test_a_version_that_was_withdrawn_is_not_replayed(project: Project, bot: Api, operator: Actor, work: Work) -> None:
    first = project.skills.get(name="greet").current
    runs = [started(bot), started(bot)]
    changed = skill_bundle("greet", {"workflow.yaml": CHAIN.encode()}, body="Changed.")
    skills.save(project, "greet", changed, base=first.digest, by=operator)
    work()
    assert bot.send("POST", f"/runs/{runs[0]['id']}/replay").status_code == 202
    quarantine.quarantine(project, "greet", first.version, reason="Bad.", by=operator)
    problem(bot.send("POST", f"/runs/{runs[1]['id']}/replay"), 404, "quarantined")
    disable_skill(project, "greet", by=operator)
    problem(bot.send("POST", f"/runs/{runs[1]['id']}/replay"), 404, "not-found")


def test_a_run_started_in_another_project_cannot_be_reached(
    other_project: Project, reviewer: Api, api: Callable[..., Api], bot: Api, work: Work
) -> None:
    run = waiting(bot, work)
    stranger = api(roles.READ, roles.RUN, where=other_project)
    for path in ("", "/values", "/steps/sign", "/state", "/lineage"):
        problem(stranger.get(f"/runs/{run['id']}{path}", of="outputs.sent"), 404, "not-found")
    problem(stranger.send("POST", f"/runs/{run['id']}/cancel"), 404, "not-found")


def test_a_call_that_was_cut_off_is_settled_by_a_person(
    bot: Api, reviewer: Api, people: Callable[..., Api], work: Work
) -> None:
    run = started(people(roles.OWNER), "letter")
    work()
    question = RunQuestion.objects.get()
    RunQuestion.objects.update(kind="doubt", shown={**question.shown, "capability": "text.template"})
    found = read(reviewer, run)
    for value in (None, {}, {"happened": "yes"}, {"happened": True, "output": {"text": 3}}):
        problem(decide(reviewer, found, "answer", value=value), 400, "invalid-request")
    problem(decide(people(roles.OWNER), found, "answer", value={"happened": False}), 403, "forbidden")
    assert decide(reviewer, found, "answer", value={"happened": False}).json()["question"]["value"] == {
        "happened": False
    }
