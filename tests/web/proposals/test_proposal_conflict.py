"""Outdated proposals: update them, and resolve conflicts."""

import re

import pytest
from django.test import Client

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.models import Approval, Project, Proposal, Version
from registry.services.files import blobs
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from tests.conftest import skill_text
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser, signed_in
from tests.web.proposals.pages import LINES, now, save_meanwhile, served, suggest, text, typed, url


def keys_in(html: str) -> list[str]:
    return sorted(set(re.findall(r'type="radio" name="([^"]+)"', html)))


def looked_at(html: str) -> dict[str, str]:
    fields = ("revision", "current")
    return {name: found[1] for name in fields if (found := re.search(f'name="{name}" value="([^"]*)"', html))}


@pytest.fixture
def clashing(project: Project, greeting: Version, author: Actor, viewer: Actor) -> Proposal:
    """Both changed the first line; each another one besides."""
    made = suggest(project, viewer, body=LINES.replace("One", "Uno").replace("Six", "Sei"))
    save_meanwhile(project, author, greeting.digest, One="Eins", Three="Drei")
    return now(made)


def test_outdated_proposal_that_still_applies_is_updated_and_reviewed_again(
    project: Project, greeting: Version, made: Proposal, author: Actor, reviewer: Client
) -> None:
    save_meanwhile(project, author, greeting.digest, Five="Cinque")
    html = text(reviewer.get(url(made)))
    assert "Outdated" in html
    assert "The change still applies." in html
    assert 'popovertarget="approve"' not in html
    assert "was made for" in text(reviewer.post(url(made, "approve/"), {"result_digest": made.result_digest}), 409)
    html = text(reviewer.post(url(made, "rebase/"), follow=True))
    assert "Review it again: nobody has approved this result." in html
    rebased = now(made)
    assert (rebased.state, rebased.revision) == ("open", 2)
    assert f'name="result_digest" value="{rebased.result_digest}"' in html
    assert "updated it to the current version" in html
    assert not Approval.objects.exists()


def test_outdated_proposal_with_a_conflict_says_why(
    project: Project, greeting: Version, made: Proposal, author: Actor, reviewer: Client
) -> None:
    save_meanwhile(project, author, greeting.digest, One="Eins")
    html = text(reviewer.get(url(made)))
    assert "changed the same lines of SKILL.md" in html
    assert "Update to version" not in html
    assert url(made, "conflict/") in html
    with nothing_left_behind():
        assert "Choose a side for each conflict" in text(reviewer.post(url(made, "rebase/")), 409)


@pytest.mark.parametrize(("taken", "line"), [("theirs", "Eins"), ("mine", "Uno")])
@pytest.mark.parametrize("who", [roles.REVIEWER, roles.VIEWER])
def test_conflict_page_shows_three_texts_and_the_choice_becomes_a_revision(
    project: Project, clashing: Proposal, browser_client: Browser, who: str, taken: str, line: str
) -> None:
    client, standing = signed_in(browser_client(who)), served(project)
    html = text(client.get(url(clashing, "conflict/")))
    for words in ("Based on", "version 1", "version 2", "revision 1", "conflict 1: choose one", ">One<", "Eins", "Uno"):
        assert words in html, words
    sent = {**looked_at(html), **dict.fromkeys(keys_in(html), taken)}
    html = text(client.post(url(clashing, "conflict/"), sent, follow=True))
    assert "Review it again: nobody has approved this result." in html
    made = now(clashing)
    assert (made.state, made.revision, made.base_digest) == ("open", 2, standing)
    assert not Approval.objects.exists()
    assert served(project) == standing
    joined = proposals.current_revision(made)
    wanted = LINES.replace("One", line).replace("Three", "Drei").replace("Six", "Sei")
    assert blobs.bundle(joined.result_manifest)[SKILL_MD].decode() == skill_text(body=wanted)
    assert [revision.how for revision in made.revisions.order_by("number")] == ["proposed", "rebased"]
    assert clashing.result_digest == made.revisions.get(number=1).result_digest


def test_conflict_without_a_choice_is_refused_and_other_choices_are_kept(clashing: Proposal, reviewer: Client) -> None:
    sent = looked_at(text(reviewer.get(url(clashing, "conflict/"))))
    for choice in ({}, {"take-0-0": "nonsense"}, {"other": "mine"}):
        with nothing_left_behind():
            html = text(reviewer.post(url(clashing, "conflict/"), {**sent, **choice}), 422)
        assert "1 place needs a choice" in html
        assert "is-missing" in html


def test_choices_for_an_older_version_have_to_be_made_again(
    project: Project, clashing: Proposal, author: Actor, reviewer: Client
) -> None:
    html = text(reviewer.get(url(clashing, "conflict/")))
    sent = {**looked_at(html), **dict.fromkeys(keys_in(html), "mine")}
    save_meanwhile(project, author, served(project), One="Un")
    with nothing_left_behind():
        answer = reviewer.post(url(clashing, "conflict/"), sent)
    assert (answer.status_code, answer.headers["Location"]) == (302, url(clashing, "conflict/"))
    assert ">Un</" in text(reviewer.get(url(clashing, "conflict/"))).replace("<ins>", "").replace("</ins>", "")


def test_choices_that_drop_the_whole_proposal_are_refused(
    project: Project, greeting: Version, viewer: Actor, author: Actor, reviewer: Client
) -> None:
    made = suggest(project, viewer)
    save_meanwhile(project, author, greeting.digest, One="Eins")
    html = text(reviewer.get(url(made, "conflict/")))
    sent = {**looked_at(html), **dict.fromkeys(keys_in(html), "theirs")}
    with nothing_left_behind():
        html = text(reviewer.post(url(made, "conflict/"), sent), 422)
    assert "greeting would not change" in html


def test_conflict_page_redirects_without_a_conflict(made: Proposal, reviewer: Client) -> None:
    assert reviewer.get(url(made, "conflict/")).headers["Location"] == url(made)
    with nothing_left_behind():
        assert "does not allow rebase" in text(reviewer.post(url(made, "conflict/")), 409)


@pytest.mark.slow
def test_revision_of_an_outdated_proposal_starts_with_both_changes(
    project: Project, clashing: Proposal, viewing: Client, author: Actor
) -> None:
    html = text(viewing.get(url(clashing, "revise/")))
    for words in ("Uno", "Drei", "Sei", url(clashing, "conflict/")):
        assert words in html
    assert "Eins" not in html
    sent = typed(LINES.replace("One", "Uno").replace("Three", "Drei"), current=served(project), do="look")
    html = text(viewing.post(url(clashing, "revise/"), sent))
    assert "Changes to the current version" in html
    assert "Eins" in html.replace("<del>", "").replace("</del>", "")
    seen = re.search(r'name="seen" value="([^"]+)"', html)
    assert seen is not None
    save_meanwhile(project, author, served(project), Two="Zwei")
    with nothing_left_behind():
        html = text(viewing.post(url(clashing, "revise/"), {**sent, "do": "decide", "seen": seen[1]}))
    assert "Zwei" in html.replace("<del>", "").replace("</del>", "")
    sent["current"] = served(project)
    text(viewing.post(url(clashing, "revise/"), {**sent, "do": "decide", "seen": seen[1]}, follow=True))
    assert (now(clashing).state, now(clashing).revision) == ("open", 2)
