"""Editing the text of a proposal: by a reviewer who approves the edit, or by the proposer as a new revision.

The result is shown before it is sent, and the form sends the digest of the result that was shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import Conflict, InvalidInput, NotText, SkillsiteError, TooLarge
from registry.core.findings import Finding
from registry.core.format import skill_form
from registry.core.text import edits
from registry.core.text.edits import Edit
from registry.services.catalog import catalog
from registry.services.catalog.catalog import Loaded
from registry.services.files import blobs
from registry.services.proposals import proposal_queries, proposals, reviews
from registry.services.proposals.prepare import CREATE, UPDATE, Suggestion
from registry.services.routing.changes import ChangedSkill
from registry.services.skills import bundles
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.middleware import STATUS
from registry.web.proposals.proposal import approved_message, back
from registry.web.proposals.proposal_page import compared, layouts
from registry.web.render.comparison import Comparison
from registry.web.skills import routing_impact

_PREFIX = "file:"
APPROVE, REVISE = "approve", "revise"


@dataclass(frozen=True, slots=True)
class Field:
    """One text file of the proposal, with its field in the form."""

    path: str
    text: str

    @property
    def name(self) -> str:
        return f"{_PREFIX}{self.path}"

    @property
    def rows(self) -> int:
        return min(28, max(6, self.text.count("\n") + 2))


@dataclass(frozen=True, slots=True)
class Preview:
    """The result of the edit, compared with the text before it."""

    compared: Comparison
    digest: str
    findings: tuple[Finding, ...] = field(default_factory=tuple)


class Editing:
    """The text of the current revision, and the edit that was sent.

    A reviewer starts from the proposed text. A revision is made for the current version of the skill, so the proposer
    of an outdated proposal starts from a merge of both, and sees the difference to the current version.
    """

    def __init__(self, request: ProjectRequest, number: int, purpose: str) -> None:
        self.request, self.purpose = request, purpose
        self.dossier = proposal_queries.details(request.project, number, by=request.actor)
        self.proposal, self.revision = self.dossier.proposal, self.dossier.revision
        if not self.revision.result_manifest:
            raise InvalidInput("A proposal to delete a skill has no text to edit.")
        self.offer = self.dossier.rebase if purpose == REVISE else None
        joined = self.offer.joined if self.offer else None
        self.result = joined or blobs.bundle(self.revision.result_manifest)

    @property
    def heading(self) -> str:
        return f"{self.verb} proposal {self.proposal.pk}"

    @property
    def verb(self) -> str:
        if self.purpose != APPROVE:
            return "Revise"
        return "Edit" if self.request.project.protected else "Edit and approve"

    @cached_property
    def current(self) -> Loaded | None:
        project, name = self.request.project, self.proposal.skill
        return catalog.inspect(project, name)[1] if catalog.find(project.pk, name) else None

    @property
    def before(self) -> dict[str, str]:
        if self.purpose == APPROVE:
            return {"label": "Proposed", "digest": self.revision.result_digest}
        return {"label": "Now", "digest": self.current_digest}

    @property
    def current_digest(self) -> str:
        return self.current.candidate.digest if self.current else ""

    @property
    def texts(self) -> dict[str, str]:
        """The text files before the edit."""
        return {path: text for path, content in self.result.items() if (text := _text(content)) is not None}

    @property
    def typed(self) -> dict[str, str]:
        """The text files after the edit, with the line endings of each file. A file that was not sent is unchanged."""
        sent = self.request.POST
        return {
            path: skill_form.restore_line_endings(text, sent[name]) if (name := f"{_PREFIX}{path}") in sent else text
            for path, text in self.texts.items()
        }

    @property
    def edit(self) -> Edit | None:
        changed = {path: text.encode() for path, text in self.typed.items() if text != self.texts[path]}
        return Edit(changed) if changed else None

    def apply_edit(self) -> Bundle:
        """Return the edited bundle. Raise InvalidSkill with findings if it breaks a rule."""
        edit, name = self.edit, self.proposal.skill
        edited = edits.apply(edit, self.result, name=name, limits=settings.LIMITS) if edit else self.result
        bundles.check(edited, authoring=True, directory=name, project=self.proposal.project)
        return edited

    def preview(self, edited: Bundle) -> Preview:
        checked = bundles.check(edited, authoring=True, directory=self.proposal.skill, project=self.proposal.project)
        before = self.result if self.purpose == APPROVE else self.current.bundle() if self.current else None
        return Preview(compared(self.request, before, edited), edited.digest, checked.findings)

    def was_seen(self, edited: Bundle) -> bool:
        """Return whether the form showed this result and, for a revision, the current version of the skill."""
        sent = self.request.POST
        same_base = self.purpose == APPROVE or sent.get("current") == self.current_digest
        return sent.get("seen") == edited.digest and same_base

    def context(self, **more: Any) -> dict[str, Any]:
        post = self.request.POST
        texts = self.typed if self.request.method == "POST" else self.texts
        ordered = sorted(texts.items(), key=lambda item: (item[0] != SKILL_MD, item[0].encode()))
        others = [entry for entry in self.result.manifest if entry.path not in texts]
        return {
            "proposal": self.proposal, "purpose": self.purpose, "fields": [Field(*each) for each in ordered],
            "others": others, "result_digest": post.get("result_digest", self.revision.result_digest),
            "comment": post.get("comment", ""), "gate_reason": post.get("gate_reason", ""),
            "layouts": layouts(self.request, "")[:0],
            "justification": post.get("justification", self.revision.justification),
            "clashes": self.offer.conflicts if self.offer else (), "current": self.current_digest,
            "before": self.before, "heading": self.heading, "verb": self.verb,
            "hands_over": self.request.project.protected, **more,
        }  # fmt: skip


def _text(content: bytes) -> str | None:
    """Return None if the file is binary or too long for a text field."""
    if len(content) > settings.LIMITS.skill_md_bytes or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: ProjectRequest, number: int) -> HttpResponse:
    """Let a reviewer edit the result and approve the edit. The history keeps both texts.

    In a protected project, another reviewer has to approve the edit.
    """
    reviews.may_decide(request.project, number, approving=True, by=request.actor)
    return _handle(request, Editing(request, number, APPROVE))


@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def revise(request: ProjectRequest, number: int) -> HttpResponse:
    """Let the proposer send a new revision for the current version of the skill."""
    proposals.require_proposer(request.project, number, by=request.actor)
    return _handle(request, Editing(request, number, REVISE))


def _handle(request: ProjectRequest, editing: Editing) -> HttpResponse:
    if request.method != "POST":
        return _page(editing)
    try:
        edited = editing.apply_edit()
        preview = editing.preview(edited)
        if request.POST.get("do") != "decide" or not editing.was_seen(edited):
            changed = ChangedSkill(editing.proposal.skill, edited[SKILL_MD])
            shown = routing_impact.of_change(request, [changed])
            after = {"label": "With your edit", "digest": edited.digest}
            return _page(editing, seen=preview, after=after, impact=shown)
        return _approve(request, editing) if editing.purpose == APPROVE else _revise(request, editing, edited)
    except (InvalidInput, TooLarge, NotText, Conflict) as error:
        return _page(editing, error)


def _page(editing: Editing, error: SkillsiteError | None = None, **more: Any) -> HttpResponse:
    status = STATUS[type(error)] if error else 200
    context = editing.context(error=error, **more)
    return render(editing.request, "proposals/edit.html", context, status=status)


def _approve(request: ProjectRequest, editing: Editing) -> HttpResponse:
    decided = reviews.approve(
        request.project,
        editing.proposal.pk,
        result_digest=request.POST.get("result_digest", ""),
        comment=request.POST.get("comment", ""),
        edit=editing.edit,
        gate_reason=request.POST.get("gate_reason", ""),
        by=request.actor,
    )
    messages.success(request, approved_message(decided))
    return back(request, decided.pk)


def _revise(request: ProjectRequest, editing: Editing, edited: Bundle) -> HttpResponse:
    files = editing.current.files if editing.current else ()
    removed = [entry.path for entry in files if entry.path not in edited]
    changes: Mapping[str, bytes | None] = {**dict.fromkeys(removed), **edited}
    suggestion = Suggestion(
        editing.proposal.skill,
        Edit(changes),
        request.POST.get("justification", ""),
        kind=UPDATE if editing.current else CREATE,
        base_digest=editing.current_digest,
    )
    revised = proposals.revise(request.project, editing.proposal.pk, suggestion, by=request.actor).proposal
    messages.success(request, f"Revision {revised.revision} is waiting for review.")
    return redirect("proposal", request.project.slug, revised.pk)
