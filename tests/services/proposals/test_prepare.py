"""Suggestions: the forms of a change, and the checks before it is stored."""

from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD
from registry.core.errors import (
    AlreadyExists,
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
from registry.core.proposals.lifecycle import State
from registry.core.text import edits
from registry.core.text.edits import Edit
from registry.models import Agent, Project
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.permissions import Actor
from registry.services.proposals import prepare, proposals
from registry.services.proposals.prepare import Suggestion
from tests import prepared
from tests.conftest import on_disk, skill_text
from tests.prepared import disable_skill
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import LINES, WHY, propose, rewrite, served, text


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


def test_a_diff_of_a_missing_file_is_refused_with_the_list_of_files(project: Project, skill: str, bot: Actor) -> None:
    patch = "--- a/references/b.md\n+++ b/references/b.md\n@@ -1,1 +1,1 @@\n-One\n+Uno\n"
    with pytest.raises(InvalidInput, match=r"has no such file\. Its files are: SKILL\.md, references/a\.md") as refused:
        propose(project, bot, edits.parse(diff=patch))
    assert refused.value.data == {"file": "references/b.md", "files": ["SKILL.md", "references/a.md"]}
    with pytest.raises(InvalidInput, match=r"there is no skill brand-new\. Send it in full"):
        propose(project, bot, edits.parse(diff="@@ -1,1 +1,1 @@\n-One\n+Uno\n"), skill="brand-new")


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
