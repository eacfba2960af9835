"""Approving, rejecting, requesting changes and withdrawing in the browser."""

import re

import pytest
from django.test import Client

from registry.core import roles
from registry.core.text import edits
from registry.models import Approval, Project, Proposal, Token, User, Version
from registry.services import permissions
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from registry.services.proposals.prepare import Suggestion
from tests.conftest import skill_text
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser, signed_in
from tests.web.proposals.pages import QUEUE, now, served, suggest, text, url


def test_approving_publishes_the_bytes_that_were_shown(project: Project, made: Proposal, reviewer: Client) -> None:
    shown = re.search(r'name="result_digest" value="([^"]+)"', text(reviewer.get(url(made))))
    assert shown is not None
    sent = reviewer.post(url(made, "approve/"), {"result_digest": shown[1], "comment": "Right."}, follow=True)
    html = text(sent)
    assert "Version 2 of greeting is live." in html
    assert "by <strong>reviewer</strong>" in html
    assert served(project) == made.result_digest == shown[1]
    assert now(made).decision_comment == "Right."


@pytest.mark.parametrize("digest", ["", "sha256:" + "0" * 64, "nonsense"])
def test_approving_another_result_is_refused_and_shows_the_current_one(
    project: Project, greeting: Version, made: Proposal, reviewer: Client, digest: str
) -> None:
    with nothing_left_behind():
        html = text(reviewer.post(url(made, "approve/"), {"result_digest": digest}), 409)
    assert "was revised after you opened it" in html
    assert made.result_digest in html
    assert served(project) == greeting.digest


def test_approving_a_proposal_that_was_revised_meanwhile_is_refused(
    project: Project, made: Proposal, bot: Actor, reviewer: Client
) -> None:
    seen = made.result_digest
    again = Suggestion("greeting", edits.parse(skill_md=skill_text(body="Other.")), "")
    proposals.revise(project, made.pk, again, by=bot)
    html = text(reviewer.post(url(made, "approve/"), {"result_digest": seen}), 409)
    assert "was revised after you opened it" in html
    assert f'name="result_digest" value="{now(made).result_digest}"' in html
    assert not Approval.objects.exists()


def test_approving_twice_from_two_tabs_applies_once(project: Project, made: Proposal, reviewer: Client) -> None:
    sent = {"result_digest": made.result_digest}
    assert reviewer.post(url(made, "approve/"), sent).status_code == 302
    html = text(reviewer.post(url(made, "approve/"), sent), 409)
    assert "was already approved" in html
    assert Approval.objects.count() == 1
    assert Version.objects.count() == 2


def test_a_reviewer_cannot_approve_their_own_proposal_and_sees_why(
    project: Project, greeting: Version, browser_client: Browser
) -> None:
    client = signed_in(browser_client(roles.REVIEWER))
    user = User.objects.get(username=roles.REVIEWER)
    made = suggest(project, permissions.person(user, project))
    html = text(client.get(url(made)))
    assert "approve your own proposal" in html
    assert 'popovertarget="approve"' not in html
    assert 'popovertarget="withdraw"' in html
    with nothing_left_behind():
        assert client.post(url(made, "approve/"), {"result_digest": made.result_digest}).status_code == 403
    with nothing_left_behind():
        assert client.get(url(made, "edit/")).status_code == 403


def test_reviewer_cannot_approve_a_proposal_of_an_agent_they_made_a_token_for(
    project: Project, made: Proposal, reviewer: Client
) -> None:
    user = User.objects.get(username=roles.REVIEWER)
    Token.objects.create(project=project, agent=made.agent, owner=user, digest="0" * 64, scopes=["propose"])
    html = text(reviewer.get(url(made)))
    assert "you made a token for" in html
    assert 'popovertarget="approve"' not in html
    assert 'popovertarget="reject"' in html
    assert "whose token you made" in text(reviewer.get(QUEUE))
    with nothing_left_behind():
        assert reviewer.post(url(made, "approve/"), {"result_digest": made.result_digest}).status_code == 403


@pytest.mark.parametrize(("part", "state"), [("reject/", "rejected"), ("request-changes/", "changes-requested")])
def test_a_decision_needs_a_comment_and_shows_it(made: Proposal, reviewer: Client, part: str, state: str) -> None:
    with nothing_left_behind():
        html = text(reviewer.post(url(made, part), {"comment": "  "}), 422)
        assert 'id="id_comment_error"' in html
        html = text(reviewer.post(url(made, part), {"comment": "x" * 10_001}), 422)
    assert "x" * 10_001 in html
    html = text(reviewer.post(url(made, part), {"comment": "Which guests?"}, follow=True))
    assert now(made).state == state
    assert html.count("Which guests?") == 2
    html = text(reviewer.post(url(made, part), {"comment": "Again."}), 409)
    assert "Nothing was changed." in html


def test_only_the_proposer_withdraws_a_proposal(
    project: Project, greeting: Version, viewer: Actor, viewing: Client, reviewer: Client
) -> None:
    made = suggest(project, viewer)
    with nothing_left_behind():
        assert reviewer.post(url(made, "withdraw/")).status_code == 403
    assert 'popovertarget="withdraw"' in text(viewing.get(url(made)))
    assert "Withdrawn by the proposer" in text(viewing.post(url(made, "withdraw/"), follow=True))
    assert now(made).state == "withdrawn"
    assert "was already withdrawn" in text(viewing.post(url(made, "withdraw/")), 409)


def test_a_maker_of_the_token_approves_if_the_project_allows_it_and_the_page_says_so(
    project: Project, made: Proposal, reviewer: Client
) -> None:
    user = User.objects.get(username=roles.REVIEWER)
    Token.objects.create(project=project, agent=made.agent, owner=user, digest="0" * 64, scopes=["propose"])
    Project.objects.update(makers_approve=True)
    html = text(reviewer.get(url(made)))
    assert "You made a token of this agent." in html
    assert 'popovertarget="approve"' in html
    html = text(reviewer.post(url(made, "approve/"), {"result_digest": made.result_digest}, follow=True))
    assert "who made a token of the agent" in html
