"""Decisions about proposals: exactly the bytes a person saw, by somebody else than who suggested them, once."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from registry.core import roles
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
from registry.lib import lru
from registry.models import Approval, Chain, Event, Membership, Project, Proposal, Skill, Token, User, Version
from registry.services import audit, permissions
from registry.services.agents import tokens
from registry.services.catalog import built_in, catalog
from registry.services.files import blobs
from registry.services.permissions import Actor
from registry.services.proposals import approval_records, proposals, rebasing, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills, versions
from tests import prepared
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import (
    create_skill,
    customise_skill,
    delete_skill,
    disable_skill,
    ensure_agent,
    import_bundle,
    save_skill,
    yank_version,
)
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import WHY, now, propose, rewrite, save, served, suggest, text


@pytest.fixture
def owner(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person(roles.OWNER), project)


def approve(project: Project, made: Proposal, by: Actor, **more: Any) -> Proposal:
    return reviews.approve(project, made.pk, result_digest=now(made).result_digest, by=by, **more)


def deletion(project: Project, by: Actor) -> Proposal:
    return prepared.propose(project, Suggestion("greeting", None, WHY, kind="delete"), by=by).proposal


# -- Approving -----------------------------------------------------------------------------------------------------


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
    """The disk keeps to no transaction, so what stands is asked for once more inside of it."""
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


# -- Whose own it is -----------------------------------------------------------------------------------------------


def test_own_proposal_cannot_be_approved(project: Project, skill: str, reviewer: Actor, owner: Actor) -> None:
    made = propose(project, reviewer)
    for edit in (None, rewrite(One="Ein")):
        with nothing_left_behind(), pytest.raises(Forbidden, match="approve your own"):
            approve(project, made, reviewer, edit=edit)
    assert approve(project, made, owner).state == State.APPROVED


def token_of(agent: Actor, project: Project, by: Actor) -> Token:
    tokens.create_token(project, agent=project.agents.get(pk=agent.agent_id), by=by)
    return Token.objects.latest("pk")


@pytest.mark.parametrize("revoked", [False, True])
def test_proposal_of_own_agent_cannot_be_approved(
    project: Project, skill: str, bot: Actor, owner: Actor, reviewer: Actor, revoked: bool
) -> None:
    token = token_of(bot, project, owner)
    made = propose(project, bot)
    if revoked:
        tokens.revoke_token(project, token.pk, by=owner)
    with nothing_left_behind(), pytest.raises(Forbidden, match="you made a token for"):
        approve(project, made, owner)
    assert approve(project, made, reviewer).state == State.APPROVED


def test_token_made_after_the_proposal_also_bars_its_maker(
    project: Project, skill: str, bot: Actor, owner: Actor
) -> None:
    made = propose(project, bot)
    token_of(bot, project, owner)
    with pytest.raises(Forbidden):
        approve(project, made, owner)


def test_joined_proposal_cannot_be_approved(
    project: Project, skill: str, bot: Actor, other_bot: Actor, reviewer: Actor, owner: Actor
) -> None:
    made = propose(project, bot)
    propose(project, reviewer)
    token_of(other_bot, project, owner)
    propose(project, other_bot)
    for somebody in (reviewer, owner):
        with nothing_left_behind(), pytest.raises(Forbidden):
            approve(project, made, somebody)


def test_maker_of_a_token_for_the_proposer_cannot_approve(
    project: Project, skill: str, author: Actor, reviewer: Actor, owner: Actor
) -> None:
    """An owner who creates a token for another person could use it to act as that person."""
    lent = Actor("person", "author", project.pk, author.scopes, user_id=author.user_id, maker_id=owner.user_id)
    made = propose(project, lent)
    with nothing_left_behind(), pytest.raises(Forbidden):
        approve(project, made, owner)
    own = propose(project, owner, rewrite(One="Un"))
    borrowed = Actor(
        "person", "reviewer", project.pk, reviewer.scopes, user_id=reviewer.user_id, maker_id=owner.user_id
    )
    with nothing_left_behind(), pytest.raises(Forbidden):
        approve(project, own, borrowed)
    assert approve(project, made, reviewer).state == State.APPROVED


def test_maker_of_a_token_that_can_revise_cannot_approve(
    project: Project, other_project: Project, skill: str, author: Actor, reviewer: Actor, owner: Actor, operator: Actor
) -> None:
    user = User.objects.get(pk=author.user_id)
    tokens.create_token(project, user=user, scopes=(roles.PROPOSE,), by=author)
    made = propose(project, author)
    Membership.objects.create(project=other_project, user=user, role=roles.VIEWER)
    elsewhere = Actor("person", "owner", other_project.pk, owner.scopes, user_id=owner.user_id)
    tokens.create_token(other_project, user=user, by=elsewhere)
    assert not reviews.own_backers(owner).exists()
    tokens.create_token(project, user=user, scopes=(roles.PROPOSE,), by=owner)
    lent = Actor("person", "author", project.pk, author.scopes, user_id=author.user_id, maker_id=owner.user_id)
    made = proposals.revise(project, made.pk, suggest(rewrite(One="Un")), by=lent).proposal
    with nothing_left_behind(), pytest.raises(Forbidden):
        approve(project, made, owner)
    assert approve(project, made, reviewer).state == State.APPROVED


def test_token_made_by_somebody_else_cannot_create_agent_tokens(
    project: Project, bot: Actor, reviewer: Actor, owner: Actor
) -> None:
    lent = Actor("person", "reviewer", project.pk, owner.scopes, user_id=reviewer.user_id, maker_id=owner.user_id)
    with nothing_left_behind(), pytest.raises(Forbidden, match="somebody else created"):
        token_of(bot, project, lent)


def test_own_proposal_can_be_rejected(project: Project, skill: str, reviewer: Actor) -> None:
    made = propose(project, reviewer)
    assert reviews.reject(project, made.pk, comment="I was wrong.", by=reviewer).state == State.REJECTED


def test_agents_and_operators_cannot_decide(project: Project, skill: str, bot: Actor, operator: Actor) -> None:
    made = propose(project, bot)
    other = ensure_agent(project, "judge", by=operator)
    for somebody in (permissions.agent(other, frozenset(roles.SCOPES)), operator):
        for decide in (
            lambda by: approve(project, made, by),
            lambda by: reviews.reject(project, made.pk, comment="No.", by=by),
            lambda by: reviews.request_changes(project, made.pk, comment="No.", by=by),
        ):
            with nothing_left_behind(), pytest.raises(Forbidden):
                decide(somebody)


def test_decision_is_refused_if_the_role_was_removed_meanwhile(
    project: Project, skill: str, bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    Membership.objects.filter(user=reviewer.user_id).update(role=roles.AUTHOR)
    for decide in (
        lambda: approve(project, made, reviewer),
        lambda: reviews.reject(project, made.pk, comment="No.", by=reviewer),
    ):
        with nothing_left_behind(), pytest.raises(Forbidden, match="no longer allowed"):
            decide()


# -- Turning down, sending back, advising --------------------------------------------------------------------------


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
        reviews.recommend(project, made.pk, verdict="approve", reason="Good.", by=other_bot)
    Project.objects.update(reviewer_agents=True)
    advice = reviews.recommend(project, made.pk, verdict="approve", reason="Good.", by=other_bot)
    again = reviews.recommend(project, made.pk, verdict="reject", reason="On second thought.", by=other_bot)
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
            reviews.recommend(project, made.pk, by=by, **given)
    reviews.reject(project, made.pk, comment="No.", by=reviewer)
    with nothing_left_behind(), pytest.raises(AlreadyDecided):
        reviews.recommend(project, made.pk, verdict="reject", reason="Late.", by=other_bot)


# -- Projects where every change is reviewed -----------------------------------------------------------------------


DIRECT: dict[str, Callable[[Project, Actor], object]] = {
    "create": lambda p, by: create_skill(p, skill_bundle("fresh"), by=by),
    "an empty create": lambda p, by: create_skill(p, skill_bundle("Not a name"), by=by),
    "save": lambda p, by: save(p, by, One="Uno"),
    "import": lambda p, by: import_bundle(p, skill_bundle("fresh"), by=by),
    "import again": lambda p, by: import_bundle(p, skill_bundle("gone"), by=by),
    "restore": lambda p, by: versions.restore(p, "greeting", "1", by=by),
    "delete": lambda p, by: delete_skill(p, "greeting", by=by),
    "undelete": lambda p, by: skills.undelete(p, "gone", by=by),
    "customise": lambda p, by: customise_skill(p, "bundled-one", by=by),
}


@pytest.fixture
def protected(project: Project, library: Path, author: Actor, skill: str) -> Project:
    on_disk(library, "bundled-one")
    built_in.index().refresh()
    create_skill(project, skill_bundle("gone"), by=author)
    delete_skill(project, "gone", by=author)
    Project.objects.update(protected=True)
    return project


@pytest.mark.parametrize("change", DIRECT)
def test_protected_project_refuses_direct_publishing(protected: Project, owner: Actor, change: str) -> None:
    before = served(protected)
    with pytest.raises(Forbidden, match="Propose the change instead") as refused:
        DIRECT[change](protected, owner)
    assert refused.value.data == {"protected": True}
    assert served(protected) == before
    assert [skill.name for skill in catalog.view(protected.pk, -1).served] == ["bundled-one", "greeting"]


@pytest.mark.parametrize("change", [name for name in DIRECT if name != "an empty create"])
def test_protection_turned_on_meanwhile_is_respected(
    protected: Project, owner: Actor, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """Between the door and the moment when it is a verb's turn."""
    Project.objects.update(protected=False)
    in_turn = audit._lock

    def meanwhile(project: Project | None) -> Chain:
        Project.objects.update(protected=True)
        return in_turn(project)

    before = served(protected)
    monkeypatch.setattr(audit, "_lock", meanwhile)
    with pytest.raises(Forbidden, match="Propose the change instead"):
        DIRECT[change](protected, owner)
    assert served(protected) == before


def test_agent_with_write_scope_cannot_publish_in_a_protected_project(protected: Project, operator: Actor) -> None:
    writer = permissions.agent(ensure_agent(protected, "writer", by=operator), frozenset({roles.READ, roles.WRITE}))
    for change in DIRECT.values():
        with pytest.raises(Forbidden):
            change(protected, writer)
    with nothing_left_behind(), pytest.raises(Forbidden):
        yank_version(protected, "greeting", "1", reason="No.", by=writer)


def test_only_reviewers_disable_or_withdraw_in_a_protected_project(
    protected: Project, author: Actor, reviewer: Actor
) -> None:
    for take in (
        lambda by: disable_skill(protected, "greeting", by=by),
        lambda by: skills.enable(protected, "greeting", by=by),
        lambda by: yank_version(protected, "greeting", "1", reason="It is wrong.", by=by),
    ):
        with nothing_left_behind(), pytest.raises(Forbidden):
            take(author)
        take(reviewer)


def test_protected_project_is_changed_by_proposals(protected: Project, author: Actor, reviewer: Actor) -> None:
    approve(protected, propose(protected, author), reviewer)
    assert catalog.load(protected.pk, "greeting").read_text(SKILL_MD, Limits()) == text(One="Uno")


# -- Proof ---------------------------------------------------------------------------------------------------------


def test_verify_counts_valid_versions(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    approve(project, propose(project, bot), reviewer)
    assert approval_records.verify() == (2, [])
    out = StringIO()
    call_command("verify_approvals", stdout=out)
    assert out.getvalue() == "2 served versions are correct, 0 problems.\n"


def tamper_with_the_version(version: Version, approval: Approval, directory: Path) -> None:
    other = Version.objects.exclude(pk=version.pk).get()
    Version.objects.filter(pk=version.pk).update(digest=other.digest, manifest=other.manifest)


def tamper_with_the_files(version: Version, approval: Approval, directory: Path) -> None:
    other = Version.objects.exclude(pk=version.pk).get()
    Version.objects.filter(pk=version.pk).update(manifest=other.manifest)


def tamper_with_the_bytes(version: Version, approval: Approval, directory: Path) -> None:
    entry = version.manifest[0]
    (directory / entry.digest[:2] / entry.digest).write_bytes(b"x" * entry.size)
    lru.clear_all()


def tamper_with_the_approval(version: Version, approval: Approval, directory: Path) -> None:
    Approval.objects.update(digest=approval.base_digest)


def tamper_with_the_proposal(version: Version, approval: Approval, directory: Path) -> None:
    Proposal.objects.update(state="rejected")


def tamper_with_the_name(version: Version, approval: Approval, directory: Path) -> None:
    Approval.objects.update(by=User.objects.exclude(pk=approval.by_id)[0])


@pytest.mark.parametrize(
    "tamper",
    [
        tamper_with_the_version,
        tamper_with_the_files,
        tamper_with_the_bytes,
        tamper_with_the_approval,
        tamper_with_the_proposal,
        tamper_with_the_name,
    ],
)
def test_verify_finds_invalid_versions(
    project: Project, skill: str, bot: Actor, reviewer: Actor, blob_directory: Path, tamper: Callable[..., None]
) -> None:
    approve(project, propose(project, bot), reviewer)
    approval = Approval.objects.get()
    assert approval.version is not None
    tamper(approval.version, approval, blob_directory)
    out = StringIO()
    with pytest.raises(CommandError, match="do not match their approval"):
        call_command("verify_approvals", stdout=out)
    assert out.getvalue().startswith("demo/greeting 2: ")


def test_verify_lists_unapproved_versions_of_a_protected_project(protected: Project) -> None:
    out = StringIO()
    call_command("verify_approvals", stdout=out)
    assert "demo/greeting 1: Nobody approved it" in out.getvalue()
    with pytest.raises(CommandError):
        call_command("verify_approvals", "--strict", stdout=StringIO())
