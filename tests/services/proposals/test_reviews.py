"""Reviews: approve exactly the bytes that were seen, edit, reject and recommend."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD
from registry.core.errors import (
    AlreadyDecided,
    Conflict,
    Forbidden,
    InvalidRequest,
    InvalidSkill,
    NotFound,
    StaleProposal,
)
from registry.core.limits import Limits
from registry.core.proposals.lifecycle import State
from registry.core.text import edits
from registry.models import Approval, Chain, Event, Project, Proposal, Skill
from registry.services import audit
from registry.services.catalog import built_in, catalog
from registry.services.files import blobs
from registry.services.permissions import Actor
from registry.services.proposals import proposals, rebasing, recommendations, reviews
from registry.services.skills import versions
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import save_skill
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import WHY, approve, deletion, now, propose, rewrite, served, suggest, text


def test_agents_get_exactly_the_approved_bytes(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    made = propose(project, bot)
    decided = approve(project, made, reviewer, comment="Right.")
    assert (decided.state, decided.decision_comment) == (State.APPROVED, "Right.")
    loaded = catalog.load(project.pk, "greeting")
    assert loaded.candidate.digest == made.result_digest == loaded.bundle().digest
    assert loaded.read_text(SKILL_MD, Limits()) == text(One="Uno")


def test_approval_records_the_proposer_and_the_reviewer(
    project: Project, skill: str, bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    approve(project, made, reviewer)
    approval = Approval.objects.get(proposal=made)
    assert approval.version is not None
    assert (approval.version.version, approval.version.by, approval.by.username) == ("2", "bot", "reviewer")
    assert (approval.digest, approval.base_digest, approval.edited) == (made.result_digest, skill, False)
    event = Event.objects.order_by("-pk")[0]
    assert (event.verb, event.before, event.after) == ("proposal.approved", skill, made.result_digest)
    assert (event.data["proposal"], event.actor_name) == (made.pk, "reviewer")
    assert approval.version.note == f"Proposal {made.pk}: {WHY}"


def test_load_includes_the_approval_in_two_queries_at_most(
    project: Project, skill: str, bot: Actor, reviewer: Actor, django_assert_max_num_queries: Any
) -> None:
    approve(project, propose(project, bot), reviewer)
    with django_assert_max_num_queries(2):
        loaded = catalog.load(project.pk, "greeting")
        assert loaded.approval is not None
        assert loaded.approval.by == "reviewer"


def test_new_skill_is_served_after_approval(project: Project, bot: Actor, reviewer: Actor) -> None:
    made = propose(project, bot, edits.parse(skill_md=skill_text("fresh")), skill="fresh")
    approve(project, made, reviewer)
    assert served(project, "fresh") == made.result_digest


def test_approved_deletion_restores_the_built_in_skill(
    project: Project, library: Path, skill: str, bot: Actor, reviewer: Actor
) -> None:
    on_disk(library, body="The bundled text.")
    decided = approve(project, deletion(project, bot), reviewer)
    assert decided.state == State.APPROVED
    assert catalog.load(project.pk, "greeting").candidate.source == "bundled"
    assert Approval.objects.get().version is None
    event = Event.objects.order_by("-pk")[0]
    assert event.before == skill


def test_approved_deletion_without_a_built_in_skill_leaves_no_skill(
    project: Project, skill: str, bot: Actor, reviewer: Actor
) -> None:
    approve(project, deletion(project, bot), reviewer)
    with pytest.raises(NotFound):
        served(project)
    assert [version.digest for version in versions.history(project, "greeting")] == [skill]


def test_approved_change_of_a_built_in_skill_records_its_upstream(
    project: Project, library: Path, bot: Actor, reviewer: Actor
) -> None:
    on_disk(library, files={"references/a.md": b"See SKILL.md.\n"})
    base = served(project)
    approve(project, propose(project, bot), reviewer)
    row = Skill.objects.get(name="greeting")
    assert row.upstream_digest == base
    assert blobs.bundle(row.upstream_manifest).digest == base


def test_approval_is_refused_if_the_built_in_skill_changes_meanwhile(
    project: Project, library: Path, bot: Actor, reviewer: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is outside of the transaction, so the approval reads the current skill again under the lock."""
    on_disk(library)
    made, in_turn = propose(project, bot), audit._lock

    def meanwhile(project: Project | None) -> Chain:
        on_disk(library, body="Another text.")
        built_in.index().refresh()
        return in_turn(project)

    monkeypatch.setattr(audit, "_lock", meanwhile)
    with nothing_left_behind(), pytest.raises(StaleProposal, match="the proposal was made for"):
        approve(project, made, reviewer)


def test_approval_makes_other_proposals_for_the_skill_stale(
    project: Project, skill: str, bot: Actor, reviewer: Actor
) -> None:
    first, second = propose(project, bot), propose(project, bot, rewrite(Nine="Nove"))
    approve(project, first, reviewer)
    assert [now(first).state, now(second).state] == [State.APPROVED, State.STALE]
    rebased = rebasing.rebase(project, second.pk, by=reviewer)
    approve(project, rebased, reviewer)
    assert catalog.load(project.pk, "greeting").read_text(SKILL_MD, Limits()) == text(One="Uno", Nine="Nove")


def test_approving_twice_applies_once(project: Project, skill: str, bot: Actor, reviewer: Actor, owner: Actor) -> None:
    made = propose(project, bot)
    approve(project, made, reviewer)
    with nothing_left_behind(), pytest.raises(AlreadyDecided, match="already approved"):
        approve(project, made, owner)
    assert len(versions.history(project, "greeting")) == 2


def test_approval_of_another_result_than_the_current_one_is_refused(
    project: Project, skill: str, bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    proposals.revise(project, made.pk, suggest(rewrite(One="Evil")), by=bot)
    with nothing_left_behind(), pytest.raises(Conflict, match="revised after you opened it") as refused:
        reviews.approve(project, made.pk, result_digest=made.result_digest, by=reviewer)
    assert refused.value.data["result_digest"] == now(made).result_digest
    assert served(project) == skill


def test_approval_of_a_deletion_that_was_rebased_is_refused(
    project: Project, skill: str, bot: Actor, reviewer: Actor, author: Actor
) -> None:
    made = deletion(project, bot)
    save_skill(project, "greeting", skill_bundle(body="Better."), base=made.base_digest, by=author)
    rebasing.rebase(project, made.pk, by=reviewer)
    with nothing_left_behind(), pytest.raises(Conflict, match="another version after you opened it"):
        approve(project, made, reviewer, base_digest=made.base_digest)
    approve(project, made, reviewer, base_digest=now(made).base_digest)
    assert not Skill.objects.get(project=project, name="greeting").overrides


def test_proposal_with_requested_changes_cannot_be_approved(
    project: Project, skill: str, bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    reviews.request_changes(project, made.pk, comment="No.", by=reviewer)
    with nothing_left_behind(), pytest.raises(Conflict, match="once its proposer has revised it"):
        approve(project, made, reviewer)


def test_approval_is_refused_if_stored_files_were_replaced(
    project: Project, skill: str, bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    other = propose(project, bot, rewrite(One="Evil"))
    revision = proposals.current_revision(made)
    revision.result_manifest = proposals.current_revision(other).result_manifest
    revision.save()
    with nothing_left_behind(), pytest.raises(Conflict, match="do not match its digest"):
        approve(project, made, reviewer)


def test_approval_checks_the_current_rules(
    project: Project, skill: str, bot: Actor, reviewer: Actor, settings: Any
) -> None:
    made = propose(project, bot, rewrite(One="x" * 2_000))
    settings.LIMITS = Limits(skill_md_bytes=1_000)
    with nothing_left_behind(), pytest.raises(Exception, match="1,000"):
        approve(project, made, reviewer)


# -- Edit and approve ----------------------------------------------------------------------------------------------


def test_edited_approval_keeps_both_texts_and_authors(
    project: Project, skill: str, bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    decided = approve(project, made, reviewer, edit=rewrite(One="Ein"), comment="Shorter.")
    assert catalog.load(project.pk, "greeting").read_text(SKILL_MD, Limits()) == text(One="Ein")
    kept = list(made.revisions.order_by("number"))
    assert [(each.how, each.by) for each in kept] == [("proposed", "bot"), ("edited", "reviewer")]
    assert [each.base_digest for each in kept] == [skill, skill]
    approval = Approval.objects.get()
    assert (approval.proposed_digest, approval.digest) == (made.result_digest, decided.result_digest)
    assert approval.edited and approval.version is not None and approval.version.by == "reviewer"
    event = Event.objects.order_by("-pk")[0]
    assert (event.data["edited"], event.data["proposed"], event.after) == (
        True, made.result_digest, decided.result_digest)  # fmt: skip


def test_edit_applies_to_the_proposed_result(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    made = propose(project, bot)
    approve(project, made, reviewer, edit=edits.parse(files={"references/b.md": "Note to SKILL.md.\n"}))
    bundle = catalog.load(project.pk, "greeting").bundle()
    assert (bundle[SKILL_MD].decode(), sorted(bundle)) == (
        text(One="Uno"), [SKILL_MD, "references/a.md", "references/b.md"])  # fmt: skip


def test_edit_without_changes_is_a_plain_approval(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    approve(project, propose(project, bot), reviewer, edit=rewrite(One="Uno"))
    assert not Approval.objects.get().edited


@pytest.mark.parametrize(
    ("edit", "error"),
    [
        (edits.parse(skill_md="no header"), InvalidSkill),
        (edits.parse(skill_md=skill_text("other")), InvalidSkill),
        (rewrite(), InvalidRequest),
    ],
    ids=["broken", "renamed", "back-to-the-base"],
)
def test_edit_is_checked_by_the_same_rules(
    project: Project, skill: str, bot: Actor, reviewer: Actor, edit: Any, error: type[Exception]
) -> None:
    made = propose(project, bot)
    with nothing_left_behind(), pytest.raises(error):
        approve(project, made, reviewer, edit=edit)


def test_a_deletion_has_nothing_to_edit(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    made = deletion(project, bot)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="nothing to edit"):
        approve(project, made, reviewer, edit=rewrite(One="Uno"))


# -- Rejecting and recommending ------------------------------------------------------------------------------------


@pytest.mark.parametrize("decide", [reviews.reject, reviews.request_changes])
def test_rejection_needs_a_comment(
    project: Project, skill: str, bot: Actor, reviewer: Actor, decide: Callable[..., Proposal]
) -> None:
    made = propose(project, bot)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="comment is missing"):
        decide(project, made.pk, comment=" ", by=reviewer)


def test_rejected_text_is_never_served(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    made = propose(project, bot)
    reviews.reject(project, made.pk, comment="No.", by=reviewer)
    assert served(project) == skill
    event = Event.objects.order_by("-pk")[0]
    assert (event.verb, event.before, event.after, event.data["result"]) == (
        "proposal.rejected", skill, skill, made.result_digest)  # fmt: skip


def test_agent_recommends_if_allowed_and_the_state_stays(
    project: Project, skill: str, bot: Actor, other_bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    with nothing_left_behind(), pytest.raises(Forbidden, match="an owner of the project allows it"):
        recommendations.recommend(project, made.pk, verdict="approve", reason="Good.", by=other_bot)
    Project.objects.update(reviewer_agents=True)
    advice = recommendations.recommend(project, made.pk, verdict="approve", reason="Good.", by=other_bot)
    again = recommendations.recommend(project, made.pk, verdict="reject", reason="On second thought.", by=other_bot)
    assert (advice.pk, again.verdict, now(made).state) == (again.pk, "reject", State.OPEN)
    assert [found.pk for found in proposals.list_proposals(project, mine=False, by=other_bot)] == [made.pk]
    assert list(proposals.list_proposals(project, by=other_bot)) == []


def test_invalid_recommendation_is_refused(
    project: Project, skill: str, bot: Actor, other_bot: Actor, reviewer: Actor
) -> None:
    Project.objects.update(reviewer_agents=True)
    made = propose(project, bot)
    cases: list[tuple[Actor, dict[str, str], type[Exception]]] = [
        (bot, {"verdict": "approve", "reason": "Mine."}, Forbidden),
        (reviewer, {"verdict": "approve", "reason": "I am a person."}, Forbidden),
        (other_bot, {"verdict": "maybe", "reason": "Hm."}, InvalidRequest),
        (other_bot, {"verdict": "approve", "reason": ""}, InvalidRequest),
    ]
    for by, given, error in cases:
        with nothing_left_behind(), pytest.raises(error):
            recommendations.recommend(project, made.pk, by=by, **given)
    reviews.reject(project, made.pk, comment="No.", by=reviewer)
    with nothing_left_behind(), pytest.raises(AlreadyDecided):
        recommendations.recommend(project, made.pk, verdict="reject", reason="Late.", by=other_bot)
