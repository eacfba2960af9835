"""Pages of one question of a run: show it, approve, deny and answer."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from registry.core.errors import Conflict, InvalidRequest, NotFound, SkillsiteError
from registry.core.workflows.records import Asks
from registry.core.workflows.values import Json, canonical
from registry.models import RunQuestion
from registry.models.workflows import DENIED, OPEN
from registry.services.notifications import notifications
from registry.services.workflows import answerers, question_queue, questions, runs
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.humanize import counted
from registry.web.labels import question_state
from registry.web.middleware import STATUS
from registry.web.runs import question_panels
from registry.web.runs.question_panel import QuestionPanel

_YES, _NO = "yes", "no"


@in_project
@never_cache
@require_safe
def show(request: ProjectRequest, run: int, question: int) -> HttpResponse:
    response = _show(request, run, question)
    notifications.mark_run_read(request.user, run)
    return response


@in_project
@require_safe
def of_run(request: ProjectRequest, run: int) -> HttpResponse:
    """Redirect to the question that waits for the person, or to the newest one."""
    found = runs.find(request.project, run, by=request.actor)
    mine = question_queue.find(request.project, by=request.actor).filter(run=found).values_list("pk", flat=True).first()
    shown = mine or found.questions.order_by("-pk").values_list("pk", flat=True).first()
    if shown is None:
        raise NotFound("This run has not asked anything.")
    return redirect("run-question", request.project.slug, run, shown)


@in_project
@require_safe
def as_json(request: ProjectRequest, run: int, question: int) -> HttpResponse:
    """Return everything that a question shows as a file, because the page shortens long values."""
    panel = _panel(request, run, question)
    response = HttpResponse(canonical(dict(panel.shown)), content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="question-{question}.json"'
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def _panel(request: ProjectRequest, run: int, question: int, **more: Any) -> QuestionPanel:
    return question_panels.of_question(request.project, run, question, by=request.actor, **more)


def _show(
    request: ProjectRequest, run: int, question: int, *, error: SkillsiteError | None = None, status: int = 200
) -> HttpResponse:
    """Show a question. After a refusal, the form keeps what was typed in."""
    data = request.POST if request.method == "POST" else None
    panel = _panel(request, run, question, data=data)
    context = {"panel": panel, "run": panel.run, "error": error, "is_stale": isinstance(error, Conflict)}
    return render(request, "runs/question.html", context, status=status)


def _decide(request: ProjectRequest, run: int, question: int, verb: Callable[[], object]) -> HttpResponse:
    """Do something, and show the question as it is now if it is refused."""
    try:
        verb()
    except (Conflict, InvalidRequest) as error:
        return _show(request, run, question, error=error, status=STATUS[type(error)])
    messages.success(request, _done(RunQuestion.objects.get(pk=question)))
    return redirect("run", request.project.slug, run)


def _done(row: RunQuestion) -> str:
    if row.state == OPEN:
        missing = row.needed - len(answerers.standing([row]).get(row.pk, ()))
        return f"Approved. {counted(missing, 'more approval is,more approvals are')} needed."
    if row.state == DENIED:
        return "Stopped." if row.kind == Asks.DOUBT else "Denied."
    return f"{question_state(row.state, row.kind)}. The run goes on."


def _named(request: ProjectRequest) -> dict[str, Any]:
    return {
        "digest": request.POST.get("digest", ""),
        "comment": request.POST.get("comment", ""),
        "by": request.actor,
    }


@in_project
@require_POST
def approve(request: ProjectRequest, run: int, question: int) -> HttpResponse:
    return _decide(request, run, question, lambda: questions.approve(request.project, run, question, **_named(request)))


@in_project
@require_POST
def deny(request: ProjectRequest, run: int, question: int) -> HttpResponse:
    return _decide(request, run, question, lambda: questions.deny(request.project, run, question, **_named(request)))


@in_project
@require_POST
def answer(request: ProjectRequest, run: int, question: int) -> HttpResponse:
    panel = _panel(request, run, question, data=request.POST)
    happened = request.POST.get("happened", "")
    if panel.form is not None and panel.asks_doubt and happened not in (_YES, _NO):
        error = InvalidRequest("Say whether the call has happened. Nothing was changed.", field="value")
        return _show(request, run, question, error=error, status=422)
    if panel.form is not None and happened != _NO and not panel.form.is_valid():
        return _show(request, run, question, status=422)
    value = _value(panel, happened)
    return _decide(
        request,
        run,
        question,
        lambda: questions.answer(request.project, run, question, value=value, **_named(request)),
    )


def _value(panel: QuestionPanel, happened: str) -> Json:
    if happened == _NO:
        return {"happened": False}
    given = panel.form.given() if panel.form is not None else {}
    return {"happened": True, "output": given} if panel.asks_doubt else given
