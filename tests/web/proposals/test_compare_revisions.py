"""The page that compares two revisions of a proposal."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.core.text import edits
from registry.models import Project, Proposal
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills
from tests.conftest import skill_bundle, skill_text
from tests.remembered import remembered


def suggestion(body: str) -> Suggestion:
    return Suggestion("greeting", edits.parse(skill_md=skill_text(body=body)), "The old text is wrong.")


@pytest.fixture
@remembered
def proposal(project: Project, author: Actor) -> Proposal:
    skills.create(project, skill_bundle(), by=author)
    return proposals.propose(project, suggestion("Say hello."), by=author).proposal


@pytest.fixture
@remembered
def revised(project: Project, proposal: Proposal, author: Actor) -> Proposal:
    """A proposal with three revisions."""
    for body in ("Say good morning.", "Say good evening."):
        proposals.revise(project, proposal.pk, suggestion(body), by=author)
    return proposal


@pytest.fixture
def reviewer(browser_client: Callable[[str], Client]) -> Client:
    return browser_client(roles.REVIEWER)


def compare(reviewer: Client, proposal: Proposal, query: str = "") -> Any:
    return reviewer.get(f"/projects/demo/proposals/{proposal.pk}/compare/{query}")


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("", "Revision 2 and revision 3"),
        ("?to=2", "Revision 1 and revision 2"),
        ("?from=1", "Revision 1 and revision 3"),
        ("?from=3&to=1", "Revision 3 and revision 1"),
    ],
)
def test_two_revisions_are_compared(reviewer: Client, revised: Proposal, query: str, heading: str) -> None:
    page = compare(reviewer, revised, query).content.decode()
    assert f"<h1>{heading}</h1>" in page
    assert 'class="diff"' in page


@pytest.mark.parametrize("query", ["?from=2&to=2", "?from=3", "?to=1"])
def test_a_revision_is_not_compared_with_itself(reviewer: Client, revised: Proposal, query: str) -> None:
    response = compare(reviewer, revised, query)
    page = response.content.decode()
    assert response.status_code == 200
    assert "<h1>Compare revisions</h1>" in page
    assert "Choose two different revisions" in page
    assert 'class="diff' not in page
    assert '<select class="select" id="from"' in page


def test_a_proposal_with_one_revision_has_nothing_to_compare(reviewer: Client, proposal: Proposal) -> None:
    response = compare(reviewer, proposal)
    page = response.content.decode()
    assert response.status_code == 200
    assert "<h1>Compare revisions</h1>" in page
    assert "This proposal has only one revision." in page
    assert f'href="/projects/demo/proposals/{proposal.pk}/">Go to the proposal' in page
    assert "<select" not in page


@pytest.mark.parametrize("query", ["?from=9", "?to=0", "?from=x&to=1", "?from=1&to=9"])
def test_a_missing_revision_is_not_compared(reviewer: Client, revised: Proposal, query: str) -> None:
    response = compare(reviewer, revised, query)
    assert response.status_code == 404
    assert "The proposal has revisions 1 to 3." in response.content.decode()
