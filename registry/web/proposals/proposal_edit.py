"""A proposal written anew: by the reviewer who then approves their own text, or by the proposer as the next try.

The text is looked at as a result before it counts: the button that decides sends the digest of what was shown.
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
from registry.services.skills import bundles
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.middleware import STATUS
from registry.web.proposals.proposal import approved_in_words, back
from registry.web.proposals.proposal_page import compared, layouts
from registry.web.render.comparison import Comparison

_PREFIX = "file:"
APPROVE, REVISE = "approve", "revise"


@dataclass(frozen=True, slots=True)
class Field:
    """One file that can be written in a page."""

    path: str
    text: str

    @property
    def name(self) -> str:
        return f"{_PREFIX}{self.path}"

    @property
    def rows(self) -> int:
        return min(28, max(6, self.text.count("\n") + 2))


@dataclass(frozen=True, slots=True)
class Seen:
    """The result of what was typed, once it can be one."""

    compared: Comparison
    digest: str
    findings: tuple[Finding, ...] = field(default_factory=tuple)


class Writing:
    """The text of one revision, and what somebody typed in its place.

    A reviewer begins with what was proposed, and sees what they made of it. The next try is made for what stands, so
    its proposer begins with both joined where the skill moved on, and sees what the try would change now.
    """

    def __init__(self, request: ProjectRequest, number: int, purpose: str) -> None:
        self.request, self.purpose = request, purpose
        self.dossier = proposal_queries.look(request.project, number, by=request.actor)
        self.proposal, self.revision = self.dossier.proposal, self.dossier.revision
        if not self.revision.result_manifest:
            raise InvalidInput("A proposal to delete a skill has no text to write.")
        self.offer = self.dossier.offer if purpose == REVISE else None
        joined = self.offer.joined if self.offer else None
        self.result = joined or blobs.bundle(self.revision.result_manifest)

    @cached_property
    def standing(self) -> Loaded | None:
        project, name = self.request.project, self.proposal.skill
        return catalog.inspect(project, name)[1] if catalog.find(project.pk, name) else None

    @property
    def before(self) -> dict[str, str]:
        if self.purpose == APPROVE:
            return {"label": "Proposed", "digest": self.revision.result_digest}
        return {"label": "Now", "digest": self.standing_digest}

    @property
    def standing_digest(self) -> str:
        return self.standing.candidate.digest if self.standing else ""

    @property
    def given(self) -> dict[str, str]:
        return {path: text for path, content in self.result.items() if (text := _text(content)) is not None}

    @property
    def typed(self) -> dict[str, str]:
        """Text as it was sent, with the line ends each file has; a file that was not sent stays."""
        sent = self.request.POST
        return {
            path: skill_form.restore_line_endings(text, sent[name]) if (name := f"{_PREFIX}{path}") in sent else text
            for path, text in self.given.items()
        }

    @property
    def edit(self) -> Edit | None:
        changed = {path: text.encode() for path, text in self.typed.items() if text != self.given[path]}
        return Edit(changed) if changed else None

    def outcome(self) -> Bundle:
        """What was typed makes this; InvalidSkill with findings where it breaks a rule."""
        edit, name = self.edit, self.proposal.skill
        made = edits.apply(edit, self.result, name=name, limits=settings.LIMITS) if edit else self.result
        bundles.check(made, authoring=True, directory=name)
        return made

    def seen(self, made: Bundle) -> Seen:
        checked = bundles.check(made, authoring=True, directory=self.proposal.skill)
        before = self.result if self.purpose == APPROVE else self.standing.bundle() if self.standing else None
        return Seen(compared(self.request, before, made), made.digest, checked.findings)

    def was_seen(self, made: Bundle) -> bool:
        """Whether the page that decides showed this very result, and the next try against what still stands."""
        sent = self.request.POST
        same_ground = self.purpose == APPROVE or sent.get("standing") == self.standing_digest
        return sent.get("seen") == made.digest and same_ground

    def context(self, **more: Any) -> dict[str, Any]:
        post = self.request.POST
        texts = self.typed if self.request.method == "POST" else self.given
        ordered = sorted(texts.items(), key=lambda item: (item[0] != SKILL_MD, item[0].encode()))
        others = [entry for entry in self.result.manifest if entry.path not in texts]
        return {
            "proposal": self.proposal, "purpose": self.purpose, "fields": [Field(*each) for each in ordered],
            "others": others, "result_digest": post.get("result_digest", self.revision.result_digest),
            "comment": post.get("comment", ""), "layouts": layouts(self.request, "")[:0],
            "justification": post.get("justification", self.revision.justification),
            "clashes": self.offer.clashes if self.offer else (), "standing": self.standing_digest,
            "before": self.before, **more,
        }  # fmt: skip


def _text(content: bytes) -> str | None:
    """None where a text field could not give the file back as it is."""
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
    """For a reviewer: their own text of the result, approved. Both texts stay on record."""
    reviews.may_decide(request.project, number, approving=True, by=request.actor)
    return _write(request, Writing(request, number, APPROVE))


@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def revise(request: ProjectRequest, number: int) -> HttpResponse:
    """For its proposer: the next try, made for what stands now."""
    proposals.require_proposer(request.project, number, by=request.actor)
    return _write(request, Writing(request, number, REVISE))


def _write(request: ProjectRequest, writing: Writing) -> HttpResponse:
    if request.method != "POST":
        return _page(writing)
    try:
        made = writing.outcome()
        seen = writing.seen(made)
        if request.POST.get("do") != "decide" or not writing.was_seen(made):
            return _page(writing, seen=seen, after={"label": "With your edit", "digest": made.digest})
        return _approve(request, writing) if writing.purpose == APPROVE else _revise(request, writing, made)
    except (InvalidInput, TooLarge, NotText, Conflict) as error:
        return _page(writing, error)


def _page(writing: Writing, error: SkillsiteError | None = None, **more: Any) -> HttpResponse:
    status = STATUS[type(error)] if error else 200
    context = writing.context(error=error, **more)
    return render(writing.request, "proposals/edit.html", context, status=status)


def _approve(request: ProjectRequest, writing: Writing) -> HttpResponse:
    decided = reviews.approve(
        request.project,
        writing.proposal.pk,
        result_digest=request.POST.get("result_digest", ""),
        comment=request.POST.get("comment", ""),
        edit=writing.edit,
        by=request.actor,
    )
    messages.success(request, approved_in_words(decided))
    return back(request, decided.pk)


def _revise(request: ProjectRequest, writing: Writing, made: Bundle) -> HttpResponse:
    there = writing.standing.files if writing.standing else ()
    gone = [entry.path for entry in there if entry.path not in made]
    changes: Mapping[str, bytes | None] = {**dict.fromkeys(gone), **made}
    suggestion = Suggestion(
        writing.proposal.skill,
        Edit(changes),
        request.POST.get("justification", ""),
        kind=UPDATE if writing.standing else CREATE,
        base_digest=writing.standing_digest,
    )
    revised = proposals.revise(request.project, writing.proposal.pk, suggestion, by=request.actor).proposal
    messages.success(request, f"Revision {revised.revision} is waiting for review.")
    return redirect("proposal", request.project.slug, revised.pk)
