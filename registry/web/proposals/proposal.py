"""One proposal: looked at, talked about and decided. Whatever went wrong is said above the state it is in now."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from registry.core.bundle import Bundle, FileEntry
from registry.core.errors import Conflict, InvalidInput, InvalidRequest, NotFound, SkillsiteError, TooLarge
from registry.models import ProposalRevision
from registry.services.files import blobs
from registry.services.notifications import notifications
from registry.services.proposals import proposals, rebasing, reviews
from registry.services.proposals.prepare import TEXT_CHARS
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.middleware import STATUS
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


def again(request: ProjectRequest, number: int, error: SkillsiteError, **more: Any) -> HttpResponse:
    """The proposal as it is now, with what went wrong."""
    context = ProposalPage(request, number).context(error=error, **more)
    return render(request, _PAGE, context, status=STATUS[type(error)])


def back(request: ProjectRequest, number: int, part: str = "") -> HttpResponse:
    return redirect(reverse("proposal", args=[request.project.slug, number]) + part)


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
            by=request.actor,
        )
    except (Conflict, InvalidInput, TooLarge) as error:
        return again(request, number, error)
    messages.success(request, approved_in_words(decided))
    return back(request, number)


def approved_in_words(decided: Any) -> str:
    version = decided.approval.version
    if version is None:
        return f"Approved. Agents do not get {decided.skill} of this project any more."
    return f"Approved. Version {version.version} of {decided.skill} is live. Agents get it with their next request."


# -- Answers that need words --------------------------------------------------------------------------------------


class WordsForm(forms.Form):
    comment = forms.CharField(max_length=TEXT_CHARS, widget=forms.Textarea(attrs={"rows": 4}), strip=True)


def _answer(request: ProjectRequest, number: int, what: str, verb: Callable[..., Any], done: str) -> HttpResponse:
    """The dialog of the page posts here; where its words do not do, the same question is a page of its own."""
    form = WordsForm(request.POST if request.method == "POST" else None)
    form.fields["comment"].label = _LABELS[what]
    form.fields["comment"].error_messages["required"] = _MISSING[what]
    if form.is_bound and form.is_valid():
        try:
            verb(request.project, number, comment=form.cleaned_data["comment"], by=request.actor)
        except InvalidRequest as error:
            form.add_error("comment", error.message)
        except Conflict as error:
            return again(request, number, error)
        else:
            messages.success(request, done)
            return back(request, number)
    page = ProposalPage(request, number)
    context = {"page": page, "proposal": page.proposal, "form": form, "what": what}
    return render(request, "proposals/answer.html", context, status=422 if form.errors else 200)


_LABELS = {"reject": "Reason", "ask": "What should change"}
_MISSING = {
    "reject": "Say why. Its proposer reads the reason and can learn from it.",
    "ask": "Say what should change. Without it nobody can revise the proposal.",
}


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def reject(request: ProjectRequest, number: int) -> HttpResponse:
    reviews.may_decide(request.project, number, by=request.actor)
    return _answer(request, number, "reject", reviews.reject, "Rejected. Nothing changes for agents.")


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: ProjectRequest, number: int) -> HttpResponse:
    reviews.may_decide(request.project, number, by=request.actor)
    said = "Changes asked for. It comes back to the queue once its proposer has revised it."
    return _answer(request, number, "ask", reviews.request_changes, said)


@in_project
@require_POST
def withdraw(request: ProjectRequest, number: int) -> HttpResponse:
    try:
        proposals.withdraw(request.project, number, comment=request.POST.get("comment", ""), by=request.actor)
    except (Conflict, InvalidRequest) as error:
        return again(request, number, error)
    messages.success(request, "Withdrawn. Nobody will review it.")
    return back(request, number)


@in_project
@require_POST
def rebase(request: ProjectRequest, number: int) -> HttpResponse:
    try:
        rebasing.rebase(request.project, number, by=request.actor)
    except (Conflict, InvalidInput, TooLarge) as error:
        return again(request, number, error)
    messages.success(request, "Brought over to what stands now. Look again: nobody has approved this result.")
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
    """What one revision would have made of the skill against another one."""
    page = ProposalPage(request, number)
    before, after = _asked(request, page)
    layout = request.GET.get("layout", "")
    context = {
        "page": page, "proposal": page.proposal, "chosen": (before.number, after.number),
        "compared": compared(request, _bundle(before.result_manifest), _bundle(after.result_manifest)),
        "before": {"label": f"Revision {before.number}", "digest": before.result_digest},
        "after": {"label": f"Revision {after.number}", "digest": after.result_digest},
        "whole": whole(request), "layouts": _two(layouts(request, layout), before, after),
    }  # fmt: skip
    return render(request, "proposals/compare.html", context)


def _asked(request: ProjectRequest, page: ProposalPage) -> tuple[ProposalRevision, ProposalRevision]:
    """The two that were asked for; without a wish the newest against the one before."""
    there = {str(revision.number): revision for revision in page.dossier.revisions}
    newest = page.proposal.revision
    first, second = request.GET.get("from") or str(max(1, newest - 1)), request.GET.get("to") or str(newest)
    if first not in there or second not in there:
        raise NotFound(f"The proposal has no such revision. It has {newest}.")
    return there[first], there[second]


def _two(offered: list[dict[str, Any]], before: ProposalRevision, after: ProposalRevision) -> list[dict[str, Any]]:
    """Revisions are compared as text, side by side or in one column."""
    chosen = f"from={before.number}&to={after.number}"
    return [{**each, "url": each["url"].replace("?", f"?{chosen}&").removesuffix("#change")} for each in offered[:2]]


def _bundle(files: tuple[FileEntry, ...]) -> Bundle | None:
    return blobs.bundle(files) if files else None
