"""Permissions on proposals: who may read, decide and recommend."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.core import roles
from registry.models import Membership, Project, Proposal, User
from registry.services import permissions
from registry.services.agents import tokens
from tests.api.proposals.requests import NEW, approve, created, propose
from tests.conftest import Api, skill_text

ACTIONS = ["approve", "reject", "request-changes"]


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("body", ["{not json", '{"colour": 1}', ""], ids=["no-json", "unknown-field", "empty"])
def test_permissions_are_checked_before_the_body(
    digest: str, bot: Api, people: Callable[..., Api], action: str, body: str
) -> None:
    proposal = created(bot)
    for caller in (bot, people(roles.AUTHOR), people(roles.REVIEWER, roles.READ, roles.PROPOSE)):
        answer = caller.send("POST", f"/proposals/{proposal['id']}/{action}", body)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert Proposal.objects.get().state == "open"


def test_approving_your_own_proposal_is_refused_before_the_body_is_read(
    project: Project, digest: str, people: Callable[..., Api], person: Callable[[str], User], bot: Api
) -> None:
    owner = people(roles.OWNER)
    mine = created(owner)
    assert owner.send("POST", f"/proposals/{mine['id']}/approve", "{not json").status_code == 403
    by = permissions.person(person(roles.OWNER), project)
    secret = tokens.create_token(project, agent=project.agents.get(name="bot"), scopes=("propose",), by=by)
    theirs = created(Api(project, secret), skill_md=NEW.replace("Two", "Due"))
    assert approve(owner, theirs).status_code == 403
    assert Proposal.objects.filter(state="open").count() == 2


def test_a_token_made_for_another_person_cannot_approve_the_makers_proposal(
    project: Project, digest: str, people: Callable[..., Api], person: Callable[[str], User]
) -> None:
    owner, by = people(roles.OWNER), permissions.person(person(roles.OWNER), project)
    mine = created(owner)
    borrowed = tokens.create_token(project, user=person(roles.REVIEWER), scopes=("review",), by=by)
    assert approve(Api(project, borrowed), mine).status_code == 403
    lent = tokens.create_token(project, user=person(roles.AUTHOR), scopes=("propose",), by=by)
    assert approve(owner, created(Api(project, lent), skill_md=NEW.replace("Two", "Due"))).status_code == 403
    assert approve(people(roles.REVIEWER), mine).status_code == 200


def test_a_person_who_lost_the_role_cannot_approve_by_token(
    digest: str, bot: Api, reviewer: Api, person: Callable[[str], User]
) -> None:
    proposal = created(bot)
    Membership.objects.filter(user=person(roles.REVIEWER)).update(role=roles.VIEWER)
    assert approve(reviewer, proposal).status_code == 403


def test_an_agent_token_cannot_review(project: Project, digest: str, bot: Api) -> None:
    proposal = created(bot)
    project.tokens.update(scopes=list(roles.SCOPES))
    for action in ACTIONS:
        answer = bot.send("POST", f"/proposals/{proposal['id']}/{action}", {"comment": "Yes."})
        assert answer.status_code == 403
    assert bot.get("/audit").status_code == 403


def test_proposals_need_the_scope(digest: str, api: Callable[..., Api]) -> None:
    reader = api(roles.READ, roles.WRITE, agent="reader")
    assert reader.get("/proposals").status_code == 403
    assert reader.get("/proposals/1").status_code == 403
    assert propose(reader).status_code == 403
    assert reader.send("POST", "/proposals", "{not json").status_code == 403


def test_proposals_of_others_are_not_found(
    digest: str, bot: Api, api: Callable[..., Api], other_project: Project
) -> None:
    proposal = created(bot)
    other = api(roles.PROPOSE, agent="other")
    elsewhere = api(roles.PROPOSE, agent="bot", where=other_project)
    for caller in (other, elsewhere):
        path = f"/proposals/{proposal['id']}"
        assert caller.get(path).status_code == 404
        assert caller.send("PUT", path, {"skill_md": NEW}).status_code == 404
        assert caller.send("POST", f"{path}/withdraw", {}).status_code == 404
        assert caller.send("POST", f"{path}/comments", {"comment": "Hi."}).status_code == 404
        assert caller.send("POST", f"{path}/rebase").status_code == 404
        assert caller.get("/proposals").json()["results"] == []


@pytest.mark.parametrize("number", ["0", "999999", "x", "1e3", "9" * 40, "٣"])
def test_an_unknown_proposal_is_not_found(digest: str, reviewer: Api, number: str) -> None:
    assert reviewer.get(f"/proposals/{number}").status_code == 404
    assert reviewer.send("POST", f"/proposals/{number}/approve", {"result_digest": "x"}).status_code == 404


@pytest.mark.parametrize("path", ["/proposals?state=odd", "/proposals?mine=maybe", "/proposals?limit=0"])
def test_an_invalid_filter_is_refused(digest: str, reviewer: Api, path: str) -> None:
    assert reviewer.get(path).status_code == 400


def test_lists_are_paged(digest: str, bot: Api, reviewer: Api) -> None:
    numbers = [created(bot, skill_md=NEW.replace("Two", word))["id"] for word in ("Due", "Deux", "Zwei")]
    first = reviewer.get("/proposals", limit="2").json()
    assert [one["id"] for one in first["results"]] == numbers[:0:-1]
    assert "offset=2" in first["next"]
    assert reviewer.get("/proposals", limit="2", offset="2").json()["next"] is None


def test_an_answer_for_one_caller_is_not_given_to_another(
    digest: str, bot: Api, api: Callable[..., Api], reviewer: Api
) -> None:
    proposal = created(bot)
    path = f"/proposals/{proposal['id']}"
    seen = reviewer.get(path)
    assert (seen.status_code, bot.get(path).status_code) == (200, 200)
    other = api(roles.PROPOSE, agent="other")
    assert other.get(path).status_code == 404
    assert other.get(path, headers={"If-None-Match": seen["ETag"]}).status_code == 404
    assert reviewer.get(path, headers={"If-None-Match": seen["ETag"]}).status_code == 304


def test_an_agent_recommends_only_if_an_owner_allows_it(
    project: Project, digest: str, bot: Api, api: Callable[..., Api], reviewer: Api
) -> None:
    proposal = created(bot)
    path = f"/proposals/{proposal['id']}"
    judge = api(roles.PROPOSE, agent="judge")
    advice = {"verdict": "reject", "reason": "It is not Italian here."}
    assert judge.send("POST", f"{path}/recommend", advice).status_code == 403
    Project.objects.filter(pk=project.pk).update(reviewer_agents=True)
    assert bot.send("POST", f"{path}/recommend", advice).status_code == 403
    assert judge.send("POST", f"{path}/recommend", {"verdict": "maybe", "reason": "x"}).status_code == 400
    given = judge.send("POST", f"{path}/recommend", advice)
    assert (given.status_code, given.json()["verdict"]) == (201, "reject")
    assert reviewer.get(path).json()["recommendations"][0]["agent"] == "judge"
    assert reviewer.get(path).json()["state"] == "open"
    assert [one["id"] for one in judge.get("/proposals", mine="0").json()["results"]] == [proposal["id"]]


def test_too_many_open_proposals_are_refused(digest: str, bot: Api, settings: Any) -> None:
    settings.OPEN_PROPOSALS_PER_AGENT = 1
    created(bot)
    refused = propose(bot, skill_md=NEW.replace("Two", "Due"))
    assert (refused.status_code, refused.json()["code"], refused.json()["allowed"]) == (409, "conflict", 1)


def test_too_many_proposals_within_an_hour_are_refused(digest: str, bot: Api, settings: Any) -> None:
    settings.PROPOSALS_PER_HOUR = 1
    created(bot)
    refused = propose(bot, skill_md=NEW.replace("Two", "Due"))
    assert (refused.status_code, refused.json()["code"], refused.json()["allowed"]) == (429, "rate-limited", 1)
    assert 3_500 < int(refused["Retry-After"]) <= 3_600


def test_a_protected_project_accepts_only_proposals(
    project: Project, digest: str, bot: Api, api: Callable[..., Api], reviewer: Api
) -> None:
    Project.objects.filter(pk=project.pk).update(protected=True)
    writer = api(roles.READ, roles.WRITE, agent="writer")
    for caller in (writer, reviewer):
        saved = caller.send("PUT", "/skills/greeting", {"skill_md": NEW}, headers={"If-Match": f'"{digest}"'})
        assert (saved.status_code, saved.json()["protected"]) == (403, True)
        assert "Propose the change instead" in saved.json()["detail"]
        assert caller.send("POST", "/skills", {"skill_md": skill_text("fresh")}).status_code == 403
        assert caller.send("DELETE", "/skills/greeting").status_code == 403
    assert approve(reviewer, created(bot)).status_code == 200
    assert "Uno" in bot.get("/skills/greeting").json()["instructions"]
