"""Proposals on the pages of a skill."""

from django.test import Client

from registry.core import roles
from registry.models import Project, Proposal, Version
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser, signed_in
from tests.web.proposals.pages import SKILL, served, text, url


def test_a_skill_lists_its_proposals_and_the_list_of_skills_counts_them(
    project: Project, made: Proposal, reviewer: Client, viewing: Client
) -> None:
    html = text(reviewer.get(f"{SKILL}proposals/"))
    assert url(made) in html
    assert "Waiting for review" in html
    assert "1 proposal</span>" in text(reviewer.get("/projects/demo/skills/"))
    assert "No proposals for this skill" in text(viewing.get(f"{SKILL}proposals/"))
    assert "1 proposal</span>" not in text(viewing.get("/projects/demo/skills/"))


def test_a_viewer_proposes_to_delete(project: Project, greeting: Version, viewing: Client) -> None:
    assert "Propose to delete" in text(viewing.get(SKILL))
    with nothing_left_behind():
        assert viewing.post(f"{SKILL}proposals/delete/", {"justification": " "}).status_code == 422
    answer = viewing.post(f"{SKILL}proposals/delete/", {"justification": "Unused."})
    made = Proposal.objects.get()
    assert answer["Location"] == url(made)
    assert made.kind == "delete"
    assert served(project) == greeting.digest


def test_the_history_shows_who_approved_a_version(
    project: Project, made: Proposal, reviewer: Client, viewing: Client
) -> None:
    reviewer.post(url(made, "approve/"), {"result_digest": made.result_digest})
    html = text(viewing.get(f"{SKILL}versions/"))
    assert "by <strong>reviewer</strong>" in html
    assert url(made) in html
    Project.objects.update(protected=True)
    assert text(viewing.get(f"{SKILL}versions/")).count("Not reviewed") == 1


def test_a_protected_project_offers_only_proposals(
    project: Project, greeting: Version, browser_client: Browser
) -> None:
    Project.objects.update(protected=True)
    author, owner = signed_in(browser_client(roles.AUTHOR)), signed_in(browser_client(roles.OWNER))
    for client in (author, owner):
        html = text(client.get(SKILL))
        assert "Propose a change</a>" in html
        assert 'id="delete"' not in html
        assert "Restore" not in text(client.get(f"{SKILL}versions/"))
        assert "New skill</a>" not in text(client.get("/projects/demo/skills/"))
    assert 'id="disable"' not in text(author.get(SKILL))
    assert 'id="disable"' in text(owner.get(SKILL))
