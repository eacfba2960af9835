"""Editing a proposal: edit and approve, and revise."""

import re

import pytest
from django.test import Client

from registry.core.bundle import SKILL_MD
from registry.core.text import edits
from registry.models import Approval, Project, Proposal, Version
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from registry.services.proposals.prepare import Suggestion
from tests.conftest import skill_text
from tests.services.footprint import nothing_left_behind
from tests.web.proposals.pages import LINES, now, served, suggest, text, typed, url


def test_an_edit_is_previewed_before_it_is_approved_and_both_texts_are_kept(
    project: Project, made: Proposal, reviewer: Client
) -> None:
    page = text(reviewer.get(url(made, "edit/")))
    assert 'name="file:SKILL.md"' in page
    assert 'name="file:references/names.md"' in page
    assert 'name="file:logo.bin"' not in page
    body = LINES.replace("One", "Uno, o ciao")
    sent = typed(body, result_digest=made.result_digest, comment="Kinder.")
    html = text(reviewer.post(url(made, "edit/"), {**sent, "do": "decide"}))
    assert not Approval.objects.exists()
    seen = re.search(r'name="seen" value="([^"]+)"', html)
    assert seen is not None
    assert "<ins>" in html
    answer = reviewer.post(url(made, "edit/"), {**sent, "do": "decide", "seen": seen[1]}, follow=True)
    assert "with their own edit" in text(answer)
    assert served(project) == seen[1]
    assert catalog.load(project.pk, "greeting").bundle()[SKILL_MD].decode() == skill_text(body=body)
    approval = Approval.objects.get()
    assert (approval.proposed_digest, approval.digest) == (made.result_digest, seen[1])
    assert [revision.how for revision in made.revisions.order_by("number")] == ["proposed", "edited"]
    assert "Compare with revision 1" in text(answer)


def test_in_a_protected_project_an_edit_goes_to_another_reviewer(
    project: Project, made: Proposal, reviewer: Client
) -> None:
    Project.objects.update(protected=True)
    before, sent = served(project), typed(LINES.replace("One", "Ein"), result_digest=made.result_digest)
    page = text(reviewer.get(url(made)))
    assert ("Edit and approve" in page, ">Edit</a>" in page) == (False, True)
    html = text(reviewer.post(url(made, "edit/"), sent))
    assert "Another reviewer has to approve your edit" in html
    seen = re.search(r'name="seen" value="([^"]+)"', html)
    assert seen is not None
    answer = reviewer.post(url(made, "edit/"), {**sent, "do": "decide", "seen": seen[1]}, follow=True)
    assert "Your edit is revision 2. Another reviewer has to approve it." in text(answer)
    assert "You can’t approve your own proposal" in text(answer)
    assert (served(project), now(made).state) == (before, "open")


def test_text_that_changed_since_the_preview_is_previewed_again(made: Proposal, reviewer: Client) -> None:
    sent = typed("One thing.", result_digest=made.result_digest, seen=made.result_digest, do="decide")
    with nothing_left_behind():
        html = text(reviewer.post(url(made, "edit/"), sent))
    assert 'name="seen"' in html


def test_an_edit_that_breaks_a_rule_keeps_the_typed_text(made: Proposal, reviewer: Client) -> None:
    sent = {f"file:{SKILL_MD}": "---\nname: other\n---\nMy words", "result_digest": made.result_digest, "do": "look"}
    with nothing_left_behind():
        html = text(reviewer.post(url(made, "edit/"), sent), 422)
    assert "My words" in html
    assert "description" in html


def test_an_edit_of_a_proposal_that_was_revised_meanwhile_is_refused_and_kept(
    project: Project, made: Proposal, bot: Actor, reviewer: Client
) -> None:
    sent = typed("Mine.", result_digest=made.result_digest, do="look")
    again = Suggestion("greeting", edits.parse(skill_md=skill_text(body="Other.")), "")
    proposals.revise(project, made.pk, again, by=bot)
    seen = re.search(r'name="seen" value="([^"]+)"', text(reviewer.post(url(made, "edit/"), sent)))
    assert seen is not None
    html = text(reviewer.post(url(made, "edit/"), {**sent, "do": "decide", "seen": seen[1]}), 409)
    assert "was revised after you opened it" in html
    assert "Mine." in html
    assert not Approval.objects.exists()


@pytest.mark.slow
def test_person_revises_a_proposal_after_changes_were_requested(
    project: Project, greeting: Version, viewer: Actor, viewing: Client, reviewer: Client
) -> None:
    made = suggest(project, viewer)
    reviewer.post(url(made, "request-changes/"), {"comment": "Which guests?"})
    page = text(viewing.get(url(made)))
    assert "It can be approved once you revise it." in page
    assert url(made, "revise/") in page
    sent = typed(LINES.replace("One", "Uno per tutti"), justification="For all guests.", current=greeting.digest)
    html = text(viewing.post(url(made, "revise/"), {**sent, "do": "look"}))
    seen = re.search(r'name="seen" value="([^"]+)"', html)
    assert seen is not None
    html = text(viewing.post(url(made, "revise/"), {**sent, "do": "decide", "seen": seen[1]}, follow=True))
    revised = now(made)
    assert (revised.state, revised.revision, revised.result_digest) == ("open", 2, seen[1])
    assert "For all guests" in html
    with nothing_left_behind():
        assert reviewer.get(url(made, "revise/")).status_code == 403
    compared = text(viewing.get(url(made, "compare/?from=1&to=2")))
    assert "Revision 1 and revision 2" in compared
    assert "per tutti" in compared
