"""Pages that add and change one test question."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.formats import date_format
from django.views.decorators.http import require_http_methods

from registry.core import roles
from registry.core.errors import AlreadyExists, InvalidRequest
from registry.core.routing.golden import NEGATIVE, NOTE_CHARS, POSITIVE, Case
from registry.models import GoldenCase, RouteLog
from registry.services.catalog import catalog
from registry.services.routing import golden_set, route_log
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.routing import tabs
from registry.web.routing.question_field import QuestionField
from registry.web.routing.verdict_words import CATEGORIES
from registry.web.skills import name_options

_NAMES = {"list": "known-names", "data-chips": "Add a skill", "data-one": "skill", "autocomplete": "off"}
_TO = "open the test questions"


class QuestionForm(forms.Form):
    query = QuestionField(
        label="Question",
        required="Enter what somebody would ask.",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="As somebody would ask it. Avoid the words of the skill’s description.",
    )
    expected = forms.CharField(
        label="Skill that should be found",
        required=False,
        widget=forms.TextInput(attrs=_NAMES),
        help_text="Leave this empty if no skill should be found. If you name several, each of them is right.",
    )
    acceptable = forms.CharField(
        label="Also fine",
        required=False,
        widget=forms.TextInput(attrs=_NAMES),
        help_text="If one of these is found instead, the question counts neither as right nor as wrong.",
    )
    category = forms.ChoiceField(
        label="Category",
        required=False,
        choices=[("", "Automatic"), *CATEGORIES.items()],
        help_text="A near miss sounds like a skill, but asks for something else.",
    )
    note = forms.CharField(
        required=False,
        max_length=NOTE_CHARS,
        help_text="For your colleagues: the reason for this question, or its source.",
        error_messages={"max_length": "The note has %(show_value)s characters. At most %(limit_value)s are allowed."},
    )

    def clean_category(self) -> str:
        """Refuse a category that contradicts the expected skills, in the words of this page."""
        category, expects = str(self.cleaned_data["category"]), bool(names(self.cleaned_data.get("expected", "")))
        if category == POSITIVE and not expects:
            raise forms.ValidationError("Name the skill that should be found, or choose another category.")
        if category == NEGATIVE and expects:
            raise forms.ValidationError("Remove the skill that should be found, or choose another category.")
        return category

    def case(self) -> Case:
        data = self.cleaned_data
        return Case(data["query"], names(data["expected"]), names(data["acceptable"]), data["category"], data["note"])


def names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def initial(row: GoldenCase) -> dict[str, str]:
    return {
        "query": row.query,
        "expected": ", ".join(row.expected),
        "acceptable": ", ".join(row.acceptable),
        "category": row.category,
        "note": row.note,
    }


@in_project
@needs(roles.WRITE, to=_TO)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: ProjectRequest) -> HttpResponse:
    entry = _logged(request)
    suggested = _suggested(entry) or {"expected": request.GET.get("expected", "")[:128]}
    form = QuestionForm(request.POST if request.method == "POST" else None, initial=suggested)
    same = (
        golden_set.find_equal(request.project, form.data.get("query", ""), by=request.actor) if form.is_bound else None
    )
    if same is not None:
        form.add_error("query", "There is already a test question with these words. Change or delete that one.")
    elif form.is_bound and form.is_valid():
        try:
            added = golden_set.add(request.project, [form.case()], by=request.actor, labels=["This question"])
        except InvalidRequest as error:
            _refuse(form, error)
        else:
            _say_saved(request, added.rows[0])
            return redirect("routing-log" if entry else "routing-questions", request.project.slug)
    return _page(request, form, entry=entry, same=same)


@in_project
@needs(roles.WRITE, to=_TO)
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: ProjectRequest, case: int) -> HttpResponse:
    row = golden_set.find(request.project, case, by=request.actor)
    form = QuestionForm(request.POST if request.method == "POST" else None, initial=initial(row))
    if form.is_bound and form.is_valid():
        try:
            changed = golden_set.change(request.project, case, form.case(), by=request.actor)
        except (InvalidRequest, AlreadyExists) as error:
            _refuse(form, error)
        else:
            _say_saved(request, changed)
            return redirect("routing-questions", request.project.slug)
    return _page(request, form, row)


def _say_saved(request: ProjectRequest, row: GoldenCase) -> None:
    """Report it, with the reason if the question is not counted, such as a misspelt name."""
    stale = golden_set.why_stale(request.project, golden_set.as_case(row))
    messages.success(request, f"Test question saved, but not counted. {stale}" if stale else "Test question saved.")


def _refuse(form: QuestionForm, error: InvalidRequest | AlreadyExists) -> None:
    form.add_error(error.field if error.field in form.fields else None, error.message)


def _logged(request: ProjectRequest) -> RouteLog | None:
    """Return the entry of the log that `?log=` names, for a question that somebody asked."""
    number = request.GET.get("log", "")
    if not (number.isdecimal() and len(number) < 19):
        return None
    return route_log.find(request.project, int(number), by=request.actor)


def _suggested(entry: RouteLog | None) -> dict[str, str]:
    if entry is None:
        return {}
    found = entry.matches[0][0] if entry.found and entry.matches else ""
    return {"query": entry.query, "expected": found, "note": f"Asked on {date_format(entry.at, 'j M Y')}"}


def _page(
    request: ProjectRequest,
    form: QuestionForm,
    row: GoldenCase | None = None,
    entry: RouteLog | None = None,
    same: GoldenCase | None = None,
) -> HttpResponse:
    view = catalog.view(request.project.pk, request.project.revision)
    context: dict[str, Any] = tabs.page(
        request, "routing-questions", form=form, row=row, entry=entry, same=same, **name_options.name_options(view)
    )
    return render(request, "routing/question.html", context, status=422 if form.errors else 200)
