"""Proposals: suggested without a trace in what is served, joined, revised, withdrawn, overtaken and brought over."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.core.errors import (
    AlreadyDecided,
    AlreadyExists,
    Conflict,
    Forbidden,
    InvalidInput,
    InvalidRequest,
    InvalidSkill,
    NotFound,
    SkillsiteError,
    StaleProposal,
    TooLarge,
    UnsafePath,
)
from registry.core.limits import Limits
from registry.core.proposals.lifecycle import State
from registry.core.text import edits
from registry.core.text.edits import Edit
from registry.models import Agent, Event, Project, Proposal, ProposalRevision, Skill, User
from registry.services.catalog import built_in, catalog
from registry.services.files import blobs
from registry.services.permissions import Actor
from registry.services.proposals import prepare, proposal_queries, proposals, rebasing, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import versions
from tests import prepared
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import create_skill, delete_skill, disable_skill, import_bundle, yank_version
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import LINES, WHY, now, propose, rewrite, save, served, suggest, text

# -- Making one -------------------------------------------------------------------------------------------------


def test_proposal_does_not_change_what_agents_get(project: Project, skill: str, bot: Actor) -> None:
    made = prepared.propose(project, suggest(), by=bot)
    assert (made.joined, made.proposal.state, made.proposal.kind) == (False, State.OPEN, "update")
    assert made.proposal.base_digest == skill != made.proposal.result_digest
    assert served(project) == skill
    assert [version.version for version in versions.history(project, "greeting")] == ["1"]


@pytest.mark.parametrize(
    "edit",
    [
        rewrite(One="Uno"),
        edits.parse(files={SKILL_MD: text(One="Uno")}),
        edits.parse(diff=f"--- a/{SKILL_MD}\n+++ b/{SKILL_MD}\n@@ -8,3 +8,3 @@\n \n-One\n+Uno\n Two\n"),
        edits.parse(
            diff=f"--- greeting/{SKILL_MD}\n+++ greeting/{SKILL_MD}\n@@ -1,3 +1,3 @@\n-One\n+Uno\n Two\n Three\n"
        ),
        edits.parse(diff="@@ -8,3 +8,3 @@\n \n-One\n+Uno\n Two\n"),
    ],
    ids=["skill_md", "files", "diff", "diff-with-directory", "diff-without-header"],
)
def test_every_form_of_a_change_gives_the_same_result(project: Project, skill: str, bot: Actor, edit: Edit) -> None:
    found = proposals.current_revision(propose(project, bot, edit))
    result = blobs.bundle(found.result_manifest)
    assert result[SKILL_MD].decode() == text(One="Uno")
    assert result["references/a.md"] == b"See SKILL.md.\n"
    assert (result.digest, blobs.bundle(found.base_manifest).digest) == (found.result_digest, skill)


def test_a_diff_may_change_add_and_remove_files(project: Project, skill: str, bot: Actor) -> None:
    diff = (
        "diff --git a/SKILL.md b/SKILL.md\nindex 1..2 100644\n"
        "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -8,1 +8,1 @@\n-One\n+Uno\n"
        "diff --git a/references/a.md b/references/a.md\ndeleted file mode 100644\n"
        "--- a/references/a.md\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-See SKILL.md.\n"
        "diff --git a/references/b.md b/references/b.md\nnew file mode 100644\n"
        "--- /dev/null\n+++ b/references/b.md\n@@ -0,0 +1,1 @@\n+New.\n"
    )
    result = proposals.current_revision(propose(project, bot, edits.parse(diff=diff))).result_manifest
    assert [entry.path for entry in result] == [SKILL_MD, "references/b.md"]


def test_binary_files_can_be_suggested(project: Project, skill: str, bot: Actor) -> None:
    made = propose(project, bot, edits.parse(files={"assets/dot.png": {"base64": "iVBORwD/"}}))
    result = blobs.bundle(proposals.current_revision(made).result_manifest)
    assert result["assets/dot.png"] == b"\x89PNG\x00\xff"


def test_a_skill_that_does_not_exist_is_created(project: Project, bot: Actor) -> None:
    made = propose(project, bot, edits.parse(skill_md=skill_text("fresh")), skill=" Fresh ")
    assert (made.skill, made.kind, made.base_digest) == ("fresh", "create", "")
    with pytest.raises(NotFound):
        catalog.load(project.pk, "fresh")


def test_a_deletion_has_a_base_and_no_result(project: Project, skill: str, bot: Actor) -> None:
    made = prepared.propose(project, Suggestion("greeting", None, WHY, kind="delete"), by=bot).proposal
    assert (made.kind, made.base_digest, made.result_digest) == ("delete", skill, "")


def test_change_of_a_built_in_skill_is_an_update(project: Project, library: Path, bot: Actor) -> None:
    on_disk(library, body=LINES)
    made = propose(project, bot)
    assert (made.kind, made.base_digest) == ("update", served(project))


def test_evidence_is_stored_with_its_kind(project: Project, skill: str, bot: Actor) -> None:
    pieces = prepare.evidence(["It failed.", "https://logs.example/1", {"kind": "log", "text": "exit 1"}])
    made = propose(project, bot, evidence=pieces, run="run-7")
    assert [piece["kind"] for piece in proposals.current_revision(made).evidence] == ["text", "link", "log"]
    assert made.run == "run-7"


REFUSED: list[tuple[str, dict[str, Any], type[SkillsiteError], str]] = [
    ("no-reason", {"justification": "  "}, InvalidRequest, "justification is missing"),
    ("long-reason", {"justification": "x" * 10_001}, InvalidRequest, "10,001 characters. 10,000 are allowed"),
    ("nul-reason", {"justification": "a\0b"}, InvalidRequest, "NUL"),
    ("half-a-character", {"justification": "a\ud800b"}, InvalidRequest, "unpaired surrogate"),
    ("long-run", {"run": "x" * 201}, InvalidRequest, "200 are allowed"),
    ("same", {"edit": rewrite()}, InvalidRequest, "does not change greeting"),
    ("other-name", {"edit": edits.parse(skill_md=skill_text("other"))}, InvalidSkill, "other"),
    ("no-header", {"edit": edits.parse(skill_md="Words only.")}, InvalidSkill, "SKILL.md"),
    ("no-skill-md", {"edit": edits.parse(files={SKILL_MD: None})}, InvalidSkill, "SKILL.md"),
    ("missing-file", {"edit": edits.parse(files={"b.md": None})}, InvalidInput, "no file 'b.md'"),
    ("create-again", {"kind": "create"}, AlreadyExists, "already"),
    ("unknown-kind", {"kind": "rename"}, InvalidRequest, "create, update, delete"),
    ("update-nothing", {"skill": "none", "kind": "update"}, NotFound, "does not exist"),
    ("delete-nothing", {"skill": "none", "kind": "delete"}, NotFound, "of its own to delete"),
    ("moved", {"base_digest": "sha256:" + "0" * 64}, StaleProposal, "you started from sha256:0"),
    ("bad-name", {"skill": "../x"}, UnsafePath, "cannot be used"),
    (
        "diff-does-not-fit",
        {"edit": edits.parse(diff="--- a/SKILL.md\n+++ b/SKILL.md\n@@ -9,2 +9,2 @@\n-Onion\n+Uno\n Two\n")},
        InvalidInput,
        r"The diff of SKILL.md does not apply. Hunk 1 \(@@ -9,2 \+9,2 @@\)(.|\n)*8  One",
    ),
    (
        "diff-of-a-missing-file",
        {"edit": edits.parse(diff="--- a/none.md\n+++ b/none.md\n@@ -1,1 +1,1 @@\n-a\n+b\n")},
        InvalidInput,
        "none.md does not apply",
    ),
    (
        "half-a-removal",
        {"edit": edits.parse(diff="--- a/SKILL.md\n+++ /dev/null\n@@ -9,1 +9,0 @@\n-One\n")},
        InvalidInput,
        "not all of its lines",
    ),
    (
        "twice",
        {"edit": edits.parse(diff="--- a/SKILL.md\n+++ b/SKILL.md\n@@ -9,1 +9,1 @@\n-One\n+Uno\n" * 2)},
        InvalidInput,
        "twice",
    ),
    (
        "renamed-by-git",
        {"edit": edits.parse(diff="diff --git a/x b/y\nrename from x\nrename to y\n")},
        InvalidInput,
        "renamed, binary or empty",
    ),
    (
        "out-of-the-skill",
        {"edit": edits.parse(diff="--- /dev/null\n+++ b/../evil.md\n@@ -0,0 +1,1 @@\n+x\n")},
        UnsafePath,
        "cannot be used",
    ),
]


@pytest.mark.parametrize(("more", "error", "said"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_invalid_suggestion_is_refused_and_stores_nothing(
    project: Project, skill: str, bot: Actor, more: dict[str, Any], error: type[SkillsiteError], said: str
) -> None:
    with nothing_left_behind(), pytest.raises(error, match=said):
        propose(project, bot, **more)


def test_refused_diff_names_the_hunk_and_the_current_text(project: Project, skill: str, bot: Actor) -> None:
    wrong = edits.parse(diff="@@ -8,1 +8,1 @@\n-One\n+Uno\n@@ -10,1 +10,1 @@\n-Drei\n+Tre\n")
    with pytest.raises(InvalidInput) as refused:
        propose(project, bot, wrong)
    assert (refused.value.data["file"], refused.value.data["hunk"], refused.value.data["line"]) == (SKILL_MD, 2, 10)
    assert "10  Three" in refused.value.message


def test_a_diff_of_what_is_not_there_says_what_is(project: Project, skill: str, bot: Actor) -> None:
    patch = "--- a/references/b.md\n+++ b/references/b.md\n@@ -1,1 +1,1 @@\n-One\n+Uno\n"
    with pytest.raises(InvalidInput, match=r"has no such file\. Its files are: SKILL\.md, references/a\.md") as refused:
        propose(project, bot, edits.parse(diff=patch))
    assert refused.value.data == {"file": "references/b.md", "files": ["SKILL.md", "references/a.md"]}
    with pytest.raises(InvalidInput, match=r"there is no skill brand-new\. Send it in full"):
        propose(project, bot, edits.parse(diff="@@ -1,1 +1,1 @@\n-One\n+Uno\n"), skill="brand-new")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "none of them"),
        ({"diff": "x", "skill_md": "y"}, "diff and skill_md"),
        ({"diff": "  "}, "at least one hunk"),
        ({"diff": 3}, "must be a unified diff"),
        ({"files": {}}, "at least one path"),
        ({"files": ["a"]}, "at least one path"),
        ({"files": {"a.md": 3}}, "send its text"),
        ({"files": {"a.md": {"base64": "?"}}}, "base64 text is invalid"),
        ({"files": {"a.md": {"text": "x"}}}, "send its text"),
        ({"skill_md": "a\nb\ud800"}, "SKILL.md, line 2"),
    ],
)
def test_an_edit_that_cannot_be_read_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        edits.parse(**given)


def test_a_path_out_of_the_skill_is_refused_before_anything_is_read() -> None:
    with pytest.raises(UnsafePath):
        edits.parse(files={"../../etc/passwd": "x"})


def test_a_result_over_the_limits_is_refused(project: Project, skill: str, bot: Actor, settings: Any) -> None:
    settings.LIMITS = type(settings.LIMITS)(files=2)
    with nothing_left_behind(), pytest.raises(TooLarge, match=r"3 files\. 2 are allowed"):
        propose(project, bot, edits.parse(files={"references/b.md": "x"}))


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (["x"] * 21, "21 pieces of evidence. 20 are allowed"),
        ([""], "evidence is missing"),
        ([3], "A piece of evidence"),
        ([{"kind": "film", "text": "x"}], "text, link, log"),
        ([{"kind": "log"}], "A piece of evidence"),
    ],
)
def test_evidence_that_cannot_be_read_is_refused(pieces: list[Any], said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        prepare.evidence(pieces)


def test_operator_cannot_propose(project: Project, skill: str, operator: Actor) -> None:
    with nothing_left_behind(), pytest.raises(Forbidden, match="Only a person or an agent"):
        propose(project, operator)


def test_agent_cannot_propose_for_a_disabled_skill(project: Project, skill: str, author: Actor, bot: Actor) -> None:
    disable_skill(project, "greeting", by=author)
    for kind in ("update", "delete", "create", None):
        with nothing_left_behind(), pytest.raises(NotFound) as refused:
            propose(project, bot, edits.parse(diff="@@ -1,1 +1,1 @@\n-x\n+y\n"), kind=kind)
        assert "One" not in refused.value.message
    assert propose(project, author).state == State.OPEN


def test_agent_cannot_propose_for_a_skill_outside_its_list(project: Project, skill: str, bot: Actor) -> None:
    Agent.objects.filter(pk=bot.agent_id).update(allowed_skills=["other"])
    with nothing_left_behind(), pytest.raises(NotFound):
        propose(project, bot, edits.parse(diff="@@ -1,1 +1,1 @@\n-x\n+y\n"))
    Agent.objects.filter(pk=bot.agent_id).update(uses_skills=["greeting"])
    assert propose(project, bot).state == State.OPEN


# -- The same once more, and too many ------------------------------------------------------------------------------


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


# -- Who sees them -------------------------------------------------------------------------------------------------


def test_agents_see_their_own_and_reviewers_all(
    project: Project, skill: str, bot: Actor, other_bot: Actor, viewer: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    for stranger in (other_bot, viewer):
        assert list(proposals.list_proposals(project, by=stranger)) == []
        with pytest.raises(NotFound, match="This proposal does not exist"):
            proposals.find(project, made.pk, by=stranger)
    assert [found.pk for found in proposals.list_proposals(project, by=bot)] == [made.pk]
    assert [found.pk for found in proposals.list_proposals(project, by=reviewer)] == [made.pk]
    assert list(proposals.list_proposals(project, mine=True, by=reviewer)) == []


def test_an_adviser_sees_the_proposals_for_the_skills_it_can_load_and_no_others(
    project: Project, skill: str, author: Actor, bot: Actor, other_bot: Actor
) -> None:
    Project.objects.update(reviewer_agents=True)
    made = propose(project, bot)

    def seen() -> list[int]:
        return [found.pk for found in proposals.list_proposals(project, mine=False, by=other_bot)]

    assert seen() == [made.pk]
    Agent.objects.filter(pk=other_bot.agent_id).update(allowed_skills=["other"])
    assert seen() == []
    with nothing_left_behind(), pytest.raises(NotFound):
        reviews.recommend(project, made.pk, verdict="approve", reason="Good.", by=other_bot)
    Agent.objects.filter(pk=other_bot.agent_id).update(uses_skills=["greeting"])
    assert seen() == [made.pk]
    disable_skill(project, "greeting", by=author)
    assert seen() == []


def test_an_agent_that_lost_a_skill_sees_what_became_of_its_proposal_and_none_of_the_text(
    project: Project, skill: str, author: Actor, bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    assert proposal_queries.details(project, made.pk, by=bot).content is not None
    save(project, author, Nine="A line that the agent is not given")
    Agent.objects.filter(pk=bot.agent_id).update(allowed_skills=["other"])
    rebasing.rebase(project, made.pk, by=reviewer)
    seen = proposal_queries.details(project, made.pk, by=bot)
    assert (seen.proposal.state, seen.content) == (State.OPEN, None)
    assert proposal_queries.details(project, made.pk, by=reviewer).content is not None


def test_proposal_is_not_visible_in_another_project(
    project: Project, other_project: Project, skill: str, bot: Actor, person: Callable[[str], User], operator: Actor
) -> None:
    made = propose(project, bot)
    stranger = Actor("person", "x", other_project.pk, frozenset(roles.SCOPES), user_id=person(roles.OWNER).pk)
    with pytest.raises(NotFound):
        proposals.find(other_project, made.pk, by=stranger)
    with pytest.raises(NotFound):
        reviews.approve(other_project, made.pk, result_digest=made.result_digest, by=stranger)


def test_a_list_is_filtered_by_state_and_skill(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    first = propose(project, bot)
    second = propose(project, bot, edits.parse(skill_md=skill_text("fresh")), skill="fresh")
    reviews.reject(project, first.pk, comment="No.", by=reviewer)
    listed = [[found.pk for found in proposals.list_proposals(project, by=bot, **by)] for by in (
        {"state": "rejected"}, {"state": "open"}, {"skill": "greeting"}, {})]  # fmt: skip
    assert listed == [[first.pk], [second.pk], [first.pk], [second.pk, first.pk]]


# -- Revising and withdrawing --------------------------------------------------------------------------------------


def test_a_revision_is_the_next_try_and_keeps_the_ones_before(
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
def test_that_it_is_decided_is_said_before_what_was_sent_is_looked_at(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor, state: State
) -> None:
    made = brought_to(state, project, bot, author, reviewer)
    broken, lost = edits.parse(skill_md="no header"), edits.parse(diff="@@ -1,1 +1,1 @@\n-Gone\n+New\n")
    for edit in (broken, lost):
        with nothing_left_behind(), pytest.raises(AlreadyDecided):
            proposals.revise(project, made.pk, suggest(edit), by=bot)
        with nothing_left_behind(), pytest.raises(AlreadyDecided):
            reviews.approve(project, made.pk, result_digest=made.result_digest, edit=edit, by=reviewer)


def test_a_comment_is_said_by_whoever_may_see_it_and_nobody_else(
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


# -- The skill moves on --------------------------------------------------------------------------------------------


MOVES: dict[str, Callable[[Project, Actor], object]] = {
    "a save": lambda p, by: save(p, by, Nine="9"),
    "an import": lambda p, by: import_bundle(p, skill_bundle(body="Imported."), by=by),
    "a deletion": lambda p, by: delete_skill(p, "greeting", by=by),
    "a withdrawal": lambda p, by: yank_version(p, "greeting", "2", reason="Wrong.", by=by),
    "a restore": lambda p, by: versions.restore(p, "greeting", "1", by=by),
}


@pytest.mark.parametrize("move", MOVES)
def test_change_of_the_skill_makes_a_proposal_stale_in_the_same_event(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor, move: str
) -> None:
    save(project, author, Two="Due")
    made = propose(project, bot)
    asked = propose(project, bot, rewrite(One="Un"))
    reviews.request_changes(project, asked.pk, comment="Why?", by=reviewer)
    other = propose(project, bot, edits.parse(skill_md=skill_text("fresh")), skill="fresh")
    MOVES[move](project, author)
    assert [now(each).state for each in (made, asked, other)] == [State.STALE, State.STALE, State.OPEN]
    assert made.base_digest in now(made).state_reason
    event = Event.objects.order_by("-pk")[0]
    assert event.data["overtaken"] == [made.pk, asked.pk]
    with nothing_left_behind(), pytest.raises(StaleProposal, match="Nothing was changed"):
        reviews.approve(project, made.pk, result_digest=made.result_digest, by=reviewer)


def test_a_name_that_was_taken_meanwhile_makes_a_creation_stale(project: Project, bot: Actor, author: Actor) -> None:
    made = propose(project, bot, edits.parse(skill_md=skill_text("fresh")), skill="fresh")
    create_skill(project, skill_bundle("fresh", body="Mine."), by=author)
    assert now(made).state == State.STALE


def test_change_on_disk_makes_a_proposal_stale_when_it_is_read(
    project: Project, library: Path, bot: Actor, reviewer: Actor
) -> None:
    on_disk(library, body=LINES)
    made = propose(project, bot)
    on_disk(library, body="Another text.")
    built_in.index().refresh()
    assert proposals.list_proposals(project, state="open", by=reviewer).count() == 0
    assert now(made).state == State.STALE
    event = Event.objects.order_by("-pk")[0]
    assert (event.verb, event.actor_kind, event.data["overtaken"]) == ("proposal.overtaken", "system", [made.pk])


def test_change_on_disk_of_a_customised_skill_makes_nothing_stale(
    project: Project, library: Path, skill: str, bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    on_disk(library, body="Another text.")
    built_in.index().refresh()
    events = Event.objects.count()
    assert proposals.find(project, made.pk, by=reviewer).state == State.OPEN
    assert [found.state for found in proposals.list_proposals(project, by=reviewer)] == [State.OPEN]
    assert Event.objects.count() == events


def test_disabling_a_skill_makes_nothing_stale(project: Project, skill: str, bot: Actor, author: Actor) -> None:
    made = propose(project, bot)
    disable_skill(project, "greeting", by=author)
    assert now(made).state == State.OPEN


# -- Bringing a change over ----------------------------------------------------------------------------------------


def test_stale_proposal_that_still_applies_is_rebased_and_open_again(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    moved = save(project, author, Nine="Nove")
    offer = proposal_queries.details(project, made.pk, by=reviewer).rebase
    rebased = rebasing.rebase(project, made.pk, by=reviewer)
    assert offer is not None and offer.prepared is not None
    assert (rebased.state, rebased.revision, rebased.base_digest) == (State.OPEN, 2, moved)
    assert rebased.result_digest == offer.prepared.result_digest != made.result_digest
    with pytest.raises(Conflict, match="revised after you opened it"):
        reviews.approve(project, made.pk, result_digest=made.result_digest, by=reviewer)
    reviews.approve(project, made.pk, result_digest=rebased.result_digest, by=reviewer)
    loaded = catalog.load(project.pk, "greeting")
    assert loaded.read_text(SKILL_MD, Limits()) == text(One="Uno", Nine="Nove")


def test_only_proposer_and_reviewers_can_rebase(
    project: Project, skill: str, bot: Actor, author: Actor, other_bot: Actor
) -> None:
    made = propose(project, bot)
    propose(project, other_bot)
    propose(project, author)
    save(project, author, Nine="Nove")
    for somebody in (other_bot, author):
        with nothing_left_behind(), pytest.raises(Forbidden, match="review"):
            rebasing.rebase(project, made.pk, by=somebody)
    assert rebasing.rebase(project, made.pk, by=bot).state == State.OPEN


def test_agent_that_cannot_load_the_skill_cannot_rebase(
    project: Project, skill: str, bot: Actor, author: Actor
) -> None:
    made = propose(project, bot)
    save(project, author, Nine="Secret")
    Agent.objects.filter(pk=bot.agent_id).update(allowed_skills=["other"])
    assert proposal_queries.details(project, made.pk, by=bot).rebase is None
    with nothing_left_behind(), pytest.raises(NotFound):
        rebasing.rebase(project, made.pk, by=bot)


def test_rebase_with_a_conflict_is_refused_without_choices(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    save(project, author, One="Eins")
    offer = proposal_queries.details(project, made.pk, by=reviewer).rebase
    assert offer is not None and offer.prepared is None
    with nothing_left_behind(), pytest.raises(Conflict, match=r"same lines of SKILL\.md") as refused:
        rebasing.rebase(project, made.pk, by=reviewer)
    assert refused.value.data["files"] == [SKILL_MD]


def test_rebase_is_refused_if_the_skill_already_contains_the_change(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    save(project, author, One="Uno")
    with nothing_left_behind(), pytest.raises(Conflict, match="already contains this change"):
        rebasing.rebase(project, made.pk, by=reviewer)


def test_rebase_is_refused_if_the_skill_is_deleted(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    delete_skill(project, "greeting", by=author)
    with nothing_left_behind(), pytest.raises(Conflict, match="greeting no longer exists"):
        rebasing.rebase(project, made.pk, by=reviewer)


def test_deletion_is_rebased_to_the_newest_version(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor
) -> None:
    made = prepared.propose(project, Suggestion("greeting", None, WHY, kind="delete"), by=bot).proposal
    moved = save(project, author, Nine="Nove")
    assert rebasing.rebase(project, made.pk, by=reviewer).base_digest == moved


def test_rebase_of_an_open_proposal_is_refused(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    made = propose(project, bot)
    with nothing_left_behind(), pytest.raises(Conflict, match="does not allow rebase"):
        rebasing.rebase(project, made.pk, by=reviewer)


# -- What stays ----------------------------------------------------------------------------------------------------


def test_cleanup_keeps_the_files_of_proposals(project: Project, skill: str, bot: Actor, author: Actor) -> None:
    made = propose(project, bot, edits.parse(files={"references/b.md": "Only proposed.\n"}))
    save(project, author, Nine="Nove")
    named = {entry.digest for entry in proposals.current_revision(made).result_manifest}
    assert named <= blobs._referenced()
    assert Skill.objects.count() == 1


def test_details_contain_the_assessment(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    made = propose(project, bot, rewrite(One="Ask https://a.example"))
    seen = proposal_queries.details(project, made.pk, by=reviewer)
    assert seen.content is not None
    assert [change.path for change in seen.content.changes] == [SKILL_MD]
    assert "+Ask https://a.example\n" in seen.content.patch(seen.content.changes[0])
    assert seen.content.assessment.risk == "high"
    assert [each.name for each in seen.content.assessment.capabilities.added] == ["a.example"]


def test_deletion_is_compared_with_the_built_in_skill(
    project: Project, library: Path, skill: str, bot: Actor, reviewer: Actor
) -> None:
    on_disk(library, body="The bundled text.")
    made = prepared.propose(project, Suggestion("greeting", None, WHY, kind="delete"), by=bot).proposal
    seen = proposal_queries.details(project, made.pk, by=reviewer)
    assert seen.content is not None and seen.content.after is not None
    assert b"The bundled text." in seen.content.after[SKILL_MD]
