"""Pages that take a skill or a version away show what this does to the test questions, and never refuse it."""

from pathlib import Path

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project, Proposal, Skill, Version
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills
from registry.services.skills.stale_proposals import DELETE
from tests.conftest import on_disk
from tests.prepared import proposing_agent
from tests.services.routing.gated import DESCRIPTIONS, ELSEWHERE, QUESTIONS, bundle, gated_project
from tests.web.conftest import Browser
from tests.web.routing.pages import HTMX, REASON, words

DESK = "/projects/demo/skills/desk/"
GONE = "4 questions lose their skill. 10 test questions checked."
LINK = "See what this does to your test questions"
HEADING = "Effect on your test questions"


@pytest.fixture
def gated(project: Project, operator: Actor) -> Project:
    return gated_project(project, operator)


@pytest.fixture
def browser(browser_client: Browser) -> Client:
    return browser_client(roles.AUTHOR)


def test_the_dialogs_of_a_skill_link_to_the_impact(gated: Project, browser: Client) -> None:
    page = browser.get(DESK).content.decode()
    for address in (f"{DESK}disable/", f"{DESK}delete/"):
        assert f'<div hx-get="{address}"' in page
        assert f'<a href="{address}">{LINK}</a>' in page


@pytest.mark.parametrize("action", ["disable", "delete"])
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_taking_a_skill_away_shows_the_lost_questions(
    gated: Project, browser: Client, action: str, headers: dict[str, str]
) -> None:
    answer = browser.get(f"{DESK}{action}/", headers=headers)
    page = words(answer)
    assert HEADING in page
    assert GONE in page
    for query in QUESTIONS["desk"]:
        assert f"{query} should find desk" in page
    assert "desk After no longer counted" in page
    assert ("<html" in answer.content.decode()) is (not headers)


@pytest.mark.parametrize("action", ["disable", "delete"])
def test_a_blocking_gate_does_not_stop_it(gated: Project, browser: Client, action: str) -> None:
    page = words(browser.get(f"{DESK}{action}/"))
    assert "The routing gate would fail. " in page
    assert "It does not stop this." in page
    assert "Publish anyway" not in page
    assert browser.post(f"{DESK}{action}/").status_code == 302
    skill = Skill.objects.get(name="desk")
    assert (skill.enabled, skill.overrides) == (action != "disable", action != "delete")


def test_a_project_without_test_questions_shows_nothing(project: Project, author: Actor, browser: Client) -> None:
    skills.create(project, bundle(), by=author)
    assert LINK not in words(browser.get(DESK))
    assert HEADING not in words(browser.get(f"{DESK}delete/"))
    assert words(browser.get(f"{DESK}delete/", headers=HTMX)) == ""


def test_somebody_who_may_only_propose_sees_no_test_question(gated: Project, browser_client: Browser) -> None:
    viewer = browser_client(roles.VIEWER)
    assert LINK not in words(viewer.get(DESK))
    for action in ("disable", "delete", "version/1/yank"):
        refused = viewer.get(f"{DESK}{action}/")
        assert refused.status_code == 403
        assert QUESTIONS["desk"][0] not in words(refused)


def test_the_confirmation_page_works_without_scripts(gated: Project, browser: Client) -> None:
    page = browser.get(f"{DESK}delete/").content.decode()
    assert f'<form method="post" action="{DESK}delete/">' in page
    assert f'name="base" value="{bundle().digest}"' in page
    assert "popovertarget" not in page.partition('id="main"')[2]


@pytest.mark.parametrize(
    ("description", "effect"),
    [
        (DESCRIPTIONS["desk"], "No question gets better or worse. 10 test questions checked."),
        (ELSEWHERE, "4 questions worse. 10 test questions checked."),
    ],
)
def test_without_the_customised_skill_agents_get_the_built_in_one(
    project: Project, library: Path, operator: Actor, browser_client: Browser, description: str, effect: str
) -> None:
    on_disk(library, "desk", description=description, body="Follow these steps.")
    gated = gated_project(project, operator)
    browser = browser_client(roles.REVIEWER)
    returned = words(browser.get(f"{DESK}delete/"))
    assert "Return desk to built-in?" in returned
    assert effect in returned
    assert GONE in words(browser.get(f"{DESK}disable/")), "switched off, neither of them is left"
    suggestion = Suggestion("desk", None, "Nobody uses it.", kind=DELETE)
    proposal = proposals.propose(gated, suggestion, by=proposing_agent(gated, "bot", operator)).proposal
    assert effect in words(browser.get(f"/projects/demo/proposals/{proposal.pk}/"))


@pytest.mark.parametrize(("role", "action"), [(roles.AUTHOR, "yank"), (roles.REVIEWER, "quarantine")])
def test_taking_a_version_away_counts_the_version_that_agents_get_then(
    gated: Project, author: Actor, browser_client: Browser, role: str, action: str
) -> None:
    browser = browser_client(role)
    last = words(browser.get(f"{DESK}version/1/{action}/"))
    assert GONE in last
    assert "It does not stop this." in last
    skills.save(gated, "desk", bundle("desk", ELSEWHERE), base=bundle().digest, gate_reason=REASON, by=author)
    assert "4 questions better. 10 test questions checked." in words(browser.get(f"{DESK}version/2/{action}/"))
    assert HEADING not in words(browser.get(f"{DESK}version/1/{action}/")), "agents do not get this version"


def test_a_refused_form_still_shows_the_impact(gated: Project, browser: Client) -> None:
    refused = browser.post(f"{DESK}version/1/yank/", {"reason": ""})
    assert refused.status_code == 422
    assert GONE in words(refused)
    assert browser.post(f"{DESK}version/1/yank/", {"reason": "Wrong."}).status_code == 302
    assert Version.objects.get(skill__name="desk").yanked_at is not None


def test_a_reviewer_sees_the_impact_of_a_proposed_deletion(
    gated: Project, operator: Actor, browser_client: Browser
) -> None:
    suggestion = Suggestion("desk", None, "Nobody uses it.", kind=DELETE)
    proposal = proposals.propose(gated, suggestion, by=proposing_agent(gated, "bot", operator)).proposal
    reviewer, address = browser_client(roles.REVIEWER), f"/projects/demo/proposals/{proposal.pk}/"
    page = words(reviewer.get(address))
    assert GONE in page
    assert "Publish anyway" not in page
    shown = {"result_digest": proposal.result_digest, "base_digest": proposal.base_digest}
    assert reviewer.post(f"{address}approve/", shown).status_code == 302
    assert Proposal.objects.get().state == "approved"


def test_in_a_project_with_reviews_the_page_proposes_the_deletion(
    gated: Project, operator: Actor, browser: Client
) -> None:
    projects.set_protected(gated, True, by=operator)
    assert f'<div hx-get="{DESK}delete/"' in browser.get(DESK).content.decode()
    page = browser.get(f"{DESK}delete/")
    assert "Propose to delete desk?" in words(page)
    assert GONE in words(page)
    assert f'action="{DESK}proposals/delete/"' in page.content.decode()


def test_a_built_in_skill_has_no_page_to_delete_it(library: Path, project: Project, browser: Client) -> None:
    on_disk(library, "meetings")
    assert browser.get("/projects/demo/skills/meetings/delete/").status_code == 404
    assert browser.get("/projects/demo/skills/meetings/disable/").status_code == 200
