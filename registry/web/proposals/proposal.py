"""Pages of one proposal: show, decide, comment and compare revisions."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from registry.core.bundle import Bundle, FileEntry
from registry.core.errors import Conflict, InvalidInput, InvalidRequest, NotFound, SkillsiteError, TooLarge
from registry.core.proposals.lifecycle import State
from registry.models import Proposal, ProposalRevision
from registry.services.files import blobs
from registry.services.notifications import notifications
from registry.services.proposals import proposals, rebasing, reviews
from registry.services.proposals.prepare import TEXT_CHARS
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.middleware import STATUS
from registry.web.proposals.decision import ReasonStep, reject_step, request_changes_step
from registry.web.proposals.proposal_page import ProposalPage, compared, layouts
from registry.web.skills.versions import whole

_PAGE = "proposals/proposal.html"


@in_project
@never_cache
@require_safe
def show(request: ProjectRequest, number: int) -> HttpResponse:
    page = ProposalPage(request, number)
    notifications.mark_proposal_read(request.user, number)
    return render(request, _PAGE, page.context())


def show_error(request: ProjectRequest, number: int, error: SkillsiteError) -> HttpResponse:
    """Show the proposal as it is now, with an error above it."""
    context = ProposalPage(request, number).context(error=error)
    return render(request, _PAGE, context, status=STATUS[type(error)])


def back(request: ProjectRequest, number: int, fragment: str = "") -> HttpResponse:
    return redirect(reverse("proposal", args=[request.project.slug, number]) + fragment)


@in_project
@require_POST
def approve(request: ProjectRequest, number: int) -> HttpResponse:
    try:
        decided = reviews.approve(
            request.project,
            number,
            result_digest=request.POST.get("result_digest", ""),
            base_digest=request.POST.get("base_digest"),
            comment=request.POST.get("comment", ""),
            gate_reason=request.POST.get("gate_reason", ""),
            by=request.actor,
        )
    except (Conflict, InvalidInput, TooLarge) as error:
        return show_error(request, number, error)
    messages.success(request, approved_message(decided))
    return back(request, number)


def approved_message(proposal: Proposal) -> str:
    if proposal.state != State.APPROVED:
        return f"Your edit is revision {proposal.revision}. Another reviewer has to approve it."
    version = proposal.approval.version
    if version is None:
        return f"Approved. {proposal.skill} is deleted from this project."
    return f"Approved. Version {version.version} of {proposal.skill} is live. Agents get it with their next request."


# -- Decisions that need a reason ---------------------------------------------------------------------------------


class ReasonForm(forms.Form):
    comment = forms.CharField(max_length=TEXT_CHARS, widget=forms.Textarea(attrs={"rows": 4}), strip=True)

    def __init__(self, step: ReasonStep, data: QueryDict | None) -> None:
        super().__init__(data)
        self.fields["comment"].label = step.label
        self.fields["comment"].error_messages["required"] = step.missing


def _decide(request: ProjectRequest, number: int, step: ReasonStep, verb: Callable[..., Any]) -> HttpResponse:
    """Handle the POST of a dialog. If the reason is missing, or without JavaScript, show the dialog as a page."""
    form = ReasonForm(step, request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            verb(request.project, number, comment=form.cleaned_data["comment"], by=request.actor)
        except InvalidRequest as error:
            form.add_error("comment", error.message)
        except Conflict as error:
            return show_error(request, number, error)
        else:
            messages.success(request, step.done)
            return back(request, number)
    page = ProposalPage(request, number)
    context = {"page": page, "proposal": page.proposal, "form": form, "step": step}
    return render(request, "proposals/reason.html", context, status=422 if form.errors else 200)


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def reject(request: ProjectRequest, number: int) -> HttpResponse:
    proposal = reviews.may_decide(request.project, number, by=request.actor)
    return _decide(request, number, reject_step(number, proposal.proposer), reviews.reject)


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def request_changes(request: ProjectRequest, number: int) -> HttpResponse:
    proposal = reviews.may_decide(request.project, number, by=request.actor)
    return _decide(request, number, request_changes_step(number, proposal.proposer), reviews.request_changes)


@in_project
@require_POST
def withdraw(request: ProjectRequest, number: int) -> HttpResponse:
    try:
        proposals.withdraw(request.project, number, comment=request.POST.get("comment", ""), by=request.actor)
    except (Conflict, InvalidRequest) as error:
        return show_error(request, number, error)
    messages.success(request, "Proposal withdrawn.")
    return back(request, number)


def updated_message(proposal: Proposal) -> str:
    return f"Updated as revision {proposal.revision}. Review it again: nobody has approved this result."


@in_project
@require_POST
def rebase(request: ProjectRequest, number: int) -> HttpResponse:
    try:
        updated = rebasing.rebase(request.project, number, by=request.actor)
    except (Conflict, InvalidInput, TooLarge) as error:
        return show_error(request, number, error)
    messages.success(request, updated_message(updated))
    return back(request, number)


@in_project
@require_POST
def comment(request: ProjectRequest, number: int) -> HttpResponse:
    text = request.POST.get("comment", "")
    try:
        proposals.comment(request.project, number, text, by=request.actor)
    except InvalidRequest as error:
        context = ProposalPage(request, number).context(talk_error=error.message, talk=text)
        return render(request, _PAGE, context, status=422)
    return back(request, number, "#talk")


# -- Revisions ----------------------------------------------------------------------------------------------------


@in_project
@require_safe
def compare(request: ProjectRequest, number: int) -> HttpResponse:
    """Compare the results of two revisions. A revision is not compared with itself."""
    page = ProposalPage(request, number)
    before, after = _chosen_revisions(request, page)
    context = {"page": page, "proposal": page.proposal, "chosen": (before.number, after.number)}
    if before != after:
        context |= _comparison(request, before, after)
    return render(request, "proposals/compare.html", context)


def _chosen_revisions(request: ProjectRequest, page: ProposalPage) -> tuple[ProposalRevision, ProposalRevision]:
    """Return the revisions `from` and `to` of the address. The default is the newest one and the one before `to`."""
    revisions = {str(revision.number): revision for revision in page.dossier.revisions}
    newest = page.proposal.revision
    after = revisions.get(request.GET.get("to") or str(newest))
    previous = str(max(1, after.number - 1)) if after else ""
    before = revisions.get(request.GET.get("from") or previous)
    if before is None or after is None:
        raise NotFound(f"This revision does not exist. The proposal has revisions 1 to {newest}.")
    return before, after


def _comparison(request: ProjectRequest, before: ProposalRevision, after: ProposalRevision) -> dict[str, Any]:
    layout = request.GET.get("layout", "")
    return {
        "compared": compared(request, _bundle(before.result_manifest), _bundle(after.result_manifest)),
        "before": {"label": f"Revision {before.number}", "digest": before.result_digest},
        "after": {"label": f"Revision {after.number}", "digest": after.result_digest},
        "whole": whole(request), "layouts": _text_layouts(layouts(request, layout), before, after),
    }  # fmt: skip


def _text_layouts(
    available: list[dict[str, Any]], before: ProposalRevision, after: ProposalRevision
) -> list[dict[str, Any]]:
    """Return the layouts for revisions, which are compared as text only."""
    chosen = f"from={before.number}&to={after.number}"
    return [{**each, "url": each["url"].replace("?", f"?{chosen}&").removesuffix("#change")} for each in available[:2]]


def _bundle(files: tuple[FileEntry, ...]) -> Bundle | None:
    return blobs.bundle(files) if files else None
