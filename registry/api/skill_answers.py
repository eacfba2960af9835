"""Answers about one skill: its instructions, its files, and the result of a save."""

from typing import Annotated, NotRequired, TypedDict

from registry.api.answers import FileShape, file_shapes, finding_shapes
from registry.api.scans import ScanSummaryShape, summary_shape
from registry.core.bundle import FileEntry
from registry.core.catalog import prompt
from registry.core.findings import FindingShape
from registry.lib.json_types import OneOf, Timestamp
from registry.services.catalog.catalog import Loaded
from registry.services.catalog.current_version import Approved
from registry.services.skills.skills import Saved


class ApprovalShape(TypedDict):
    by: str
    at: Timestamp
    digest: str
    proposal: int
    edited: Annotated[bool, "Whether a reviewer changed the proposed bytes before they were approved."]


class SkillShape(TypedDict):
    name: str
    title: Annotated[str, "For people: `title` in the metadata, else the first heading, else the name in words."]
    description: str
    kind: Annotated[str, OneOf(("knowledge", "tool"))]
    version: str
    digest: str
    source: str
    instructions: str
    tokens: int
    summary: str
    requires: list[str]
    triggers: Annotated[list[str], "Phrases of people that call for this skill."]
    inputs: Annotated[list[str], "What the skill needs to be given."]
    outputs: Annotated[list[str], "What the skill produces."]
    files: list[FileShape]
    scan: Annotated[ScanSummaryShape | None, "The security scan of this version. Null for built-in skills."]
    hint: NotRequired[str]
    approval: NotRequired[
        Annotated[ApprovalShape, "The approval of the proposal behind this version: the reviewer and the exact bytes."]
    ]


class FileContentShape(TypedDict):
    name: str
    source: str
    version: str
    digest: str
    path: str
    size: int
    content: str


class SavedShape(TypedDict):
    name: str
    source: str
    version: str
    digest: str
    findings: list[FindingShape]


def skill_shape(loaded: Loaded) -> SkillShape:
    skill, skill_md = loaded.candidate, loaded.skill_md()
    body: SkillShape = {
        "name": skill.name,
        "title": skill_md.title,
        "description": skill.description,
        "kind": skill.kind,
        "version": skill.version,
        "digest": skill.digest,
        "source": skill.source,
        "instructions": skill_md.instructions,
        "tokens": skill.tokens,
        "summary": prompt.summary(skill.name, skill.tokens),
        "requires": list(skill.requires),
        "triggers": list(skill_md.triggers),
        "inputs": list(skill_md.inputs),
        "outputs": list(skill_md.outputs),
        "files": file_shapes(loaded.files),
        "scan": summary_shape(loaded.scan),
    }
    if skill.requires:
        body["hint"] = prompt.hint(skill.requires)
    if loaded.approval:
        body["approval"] = _approval_shape(loaded.approval)
    return body


def _approval_shape(approval: Approved) -> ApprovalShape:
    return {
        "by": approval.by,
        "at": approval.at.isoformat(),
        "digest": approval.digest,
        "proposal": approval.proposal,
        "edited": approval.edited,
    }


def file_content_shape(loaded: Loaded, entry: FileEntry, text: str) -> FileContentShape:
    skill = loaded.candidate
    return {
        "name": skill.name,
        "source": skill.source,
        "version": skill.version,
        "digest": skill.digest,
        "path": entry.path,
        "size": entry.size,
        "content": text,
    }


def saved_shape(saved: Saved) -> SavedShape:
    version = saved.version
    return {
        "name": version.skill.name,
        "source": "project",
        "version": version.version,
        "digest": version.digest,
        "findings": finding_shapes(saved.findings),
    }
