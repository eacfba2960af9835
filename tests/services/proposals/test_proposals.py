"""Proposals from the side of their proposers: propose, join, revise, withdraw and comment."""

from typing import Any

import pytest

from registry.core.errors import AlreadyDecided, Conflict, Forbidden, InvalidRequest, NotFound
from registry.core.proposals.lifecycle import State
from registry.core.text import edits
from registry.models import Event, Project, Proposal, ProposalRevision, Skill
from registry.services.files import blobs
from registry.services.permissions import Actor
from registry.services.proposals import proposal_queries, proposals, rebasing, reviews
from registry.services.skills import versions
from tests import prepared
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import WHY, now, propose, rewrite, save, served, suggest


def test_proposal_does_not_change_what_agents_get(project: Project, skill: str, bot: Actor) -> None:
    made = prepared.propose(project, suggest(), by=bot)
    assert (made.joined, made.proposal.state, made.proposal.kind) == (False, State.OPEN, "update")
    assert made.proposal.base_digest == skill != made.proposal.result_digest
    assert served(project) == skill
    assert [version.version for version in versions.history(project, "greeting")] == ["1"]


def test_cleanup_keeps_the_files_of_proposals(project: Project, skill: str, bot: Actor, author: Actor) -> None:
    made = propose(project, bot, edits.parse(files={"references/b.md": "Only proposed.\n"}))
    save(project, author, Nine="Nove")
    named = {entry.digest for entry in proposals.current_revision(made).result_manifest}
    assert named <= blobs._referenced()
    assert Skill.objects.count() == 1


# -- Equal proposals, and too many ---------------------------------------------------------------------------------


def test_equal_suggestion_joins_the_waiting_proposal(
    project: Project, skill: str, bot: Actor, other_bot: Actor
) -> None:
    first = propose(project, bot)
    again = prepared.propose(project, suggest(), by=bot)
    joined = prepared.propose(project, suggest(justification="Mine too."), by=other_bot)
    assert (again.joined, joined.joined) == (True, True)
    assert {again.proposal.pk, joined.proposal.pk} == {first.pk}
    assert first.backers.count() == 2
    assert [event.verb for event in Event.objects.order_by("-pk")[:2]] == ["proposal.joined", "proposal.opened"]


def test_rejected_suggestion_can_be_proposed_again(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    first = propose(project, bot)
    reviews.reject(project, first.pk, comment="No.", by=reviewer)
    assert propose(project, bot).pk != first.pk


def test_agent_that_joined_sees_the_decision_and_its_own_text_only(
    project: Project, skill: str, bot: Actor, other_bot: Actor, reviewer: Actor
) -> None:
    first = propose(project, bot)
    propose(project, other_bot, justification="Mine too.")
    proposals.comment(project, first.pk, "A word of the proposer.", by=bot)
    proposals.revise(project, first.pk, suggest(rewrite(One="Secret")), by=bot)
    reviews.reject(project, first.pk, comment="Not like this.", by=reviewer)
    seen = proposal_queries.details(project, first.pk, by=other_bot)
    assert (seen.content, seen.justification) == (None, "Mine too.")
    assert [said.text for said in seen.comments] == ["Not like this."]
    assert seen.proposal.decision_comment == "Not like this."


def test_number_of_waiting_proposals_of_an_agent_is_limited(
    project: Project, skill: str, bot: Actor, author: Actor, settings: Any
) -> None:
    settings.OPEN_PROPOSALS_PER_AGENT = 2
    first = propose(project, bot)
    propose(project, bot, rewrite(One="Un"))
    with pytest.raises(Conflict, match=r"bot has 2 proposals that wait for review\. 2 are allowed"):
        propose(project, bot, rewrite(One="Eins"))
    assert prepared.propose(project, suggest(), by=bot).joined
    propose(project, author, rewrite(One="Eins"))
    proposals.withdraw(project, first.pk, by=bot)
    assert propose(project, bot, rewrite(One="Yksi")).state == State.OPEN


# -- Revising and withdrawing --------------------------------------------------------------------------------------


def test_a_revision_opens_the_proposal_again_and_keeps_earlier_revisions(
    project: Project, skill: str, bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    reviews.request_changes(project, made.pk, comment="In French.", by=reviewer)
    assert now(made).state == State.CHANGES_REQUESTED
    revised = proposals.revise(project, made.pk, suggest(rewrite(One="Un"), justification=""), by=bot).proposal
    assert (revised.state, revised.revision, revised.decision) == (State.OPEN, 2, "")
    assert revised.result_digest != made.result_digest
    assert [(each.how, each.justification) for each in made.revisions.order_by("number")] == [
        ("proposed", WHY), ("revised", WHY)]  # fmt: skip
    assert [said.action for said in made.comments.order_by("pk")] == ["request-changes"]


def test_stale_proposal_is_revised_for_the_current_version(
    project: Project, skill: str, author: Actor, bot: Actor
) -> None:
    made = propose(project, bot)
    moved = save(project, author, One="Eins")
    revised = proposals.revise(project, made.pk, suggest(rewrite(One="Uno", Nine="Nove")), by=bot).proposal
    assert (revised.state, revised.base_digest, revised.state_reason) == (State.OPEN, moved, "")


def test_only_the_proposer_revises_and_withdraws(
    project: Project, skill: str, bot: Actor, reviewer: Actor, other_bot: Actor
) -> None:
    made = propose(project, bot)
    propose(project, other_bot)
    for somebody in (reviewer, other_bot):
        with nothing_left_behind(), pytest.raises(Forbidden, match="Only the proposer"):
            proposals.withdraw(project, made.pk, by=somebody)
        with nothing_left_behind(), pytest.raises(Forbidden, match="Only the proposer"):
            proposals.revise(project, made.pk, suggest(rewrite(One="Un")), by=somebody)


def test_equal_revision_is_refused(project: Project, skill: str, bot: Actor, other_bot: Actor) -> None:
    made = propose(project, bot)
    other = propose(project, other_bot, rewrite(One="Un"))
    with pytest.raises(Conflict, match="equal to the one before"):
        proposals.revise(project, made.pk, suggest(), by=bot)
    with pytest.raises(Conflict, match=f"Proposal {other.pk} proposes the same change"):
        proposals.revise(project, made.pk, suggest(rewrite(One="Un")), by=bot)
    assert ProposalRevision.objects.filter(proposal=made).count() == 1


@pytest.mark.parametrize("before", [State.OPEN, State.CHANGES_REQUESTED, State.STALE])
def test_undecided_proposal_can_be_withdrawn(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor, before: State
) -> None:
    made = brought_to(before, project, bot, author, reviewer)
    assert proposals.withdraw(project, made.pk, comment="Never mind.", by=bot).state == State.WITHDRAWN
    with nothing_left_behind(), pytest.raises(AlreadyDecided):
        proposals.withdraw(project, made.pk, by=bot)


def brought_to(state: State, project: Project, bot: Actor, author: Actor, reviewer: Actor) -> Proposal:
    """A proposal of the bot that got into a state by what people do."""
    made = propose(project, bot)
    if state is State.CHANGES_REQUESTED:
        reviews.request_changes(project, made.pk, comment="Change it.", by=reviewer)
    elif state is State.STALE:
        save(project, author, Nine="Nine more")
    elif state is State.REJECTED:
        reviews.reject(project, made.pk, comment="No.", by=reviewer)
    elif state is State.APPROVED:
        reviews.approve(project, made.pk, result_digest=made.result_digest, by=reviewer)
    elif state is State.WITHDRAWN:
        proposals.withdraw(project, made.pk, by=bot)
    assert now(made).state == state
    return now(made)


@pytest.mark.parametrize("state", [State.APPROVED, State.REJECTED, State.WITHDRAWN])
def test_decided_proposal_stays_decided(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor, state: State
) -> None:
    made = brought_to(state, project, bot, author, reviewer)
    for verb in (
        lambda: reviews.approve(project, made.pk, result_digest=made.result_digest, by=reviewer),
        lambda: reviews.reject(project, made.pk, comment="No.", by=reviewer),
        lambda: reviews.request_changes(project, made.pk, comment="Change it.", by=reviewer),
        lambda: proposals.withdraw(project, made.pk, by=bot),
        lambda: rebasing.rebase(project, made.pk, by=reviewer),
        lambda: proposals.revise(project, made.pk, suggest(rewrite(One="Un")), by=bot),
    ):
        with nothing_left_behind(), pytest.raises(AlreadyDecided):
            verb()
    assert now(made).state == state


@pytest.mark.parametrize("state", [State.APPROVED, State.REJECTED, State.WITHDRAWN])
def test_a_decided_proposal_is_refused_before_the_edit_is_checked(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor, state: State
) -> None:
    made = brought_to(state, project, bot, author, reviewer)
    broken, lost = edits.parse(skill_md="no header"), edits.parse(diff="@@ -1,1 +1,1 @@\n-Gone\n+New\n")
    for edit in (broken, lost):
        with nothing_left_behind(), pytest.raises(AlreadyDecided):
            proposals.revise(project, made.pk, suggest(edit), by=bot)
        with nothing_left_behind(), pytest.raises(AlreadyDecided):
            reviews.approve(project, made.pk, result_digest=made.result_digest, edit=edit, by=reviewer)


def test_only_those_who_see_a_proposal_can_comment_on_it(
    project: Project, skill: str, bot: Actor, reviewer: Actor, other_bot: Actor
) -> None:
    made = propose(project, bot)
    proposals.comment(project, made.pk, "Is it so?", by=reviewer)
    proposals.comment(project, made.pk, "It is.", by=bot)
    assert [said.by for said in made.comments.order_by("pk")] == ["reviewer", "bot"]
    with nothing_left_behind(), pytest.raises(NotFound):
        proposals.comment(project, made.pk, "Me too.", by=other_bot)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="comment is missing"):
        proposals.comment(project, made.pk, "   ", by=reviewer)
