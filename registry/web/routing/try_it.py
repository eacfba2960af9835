"""The page “Try it”: type a question, and see the skill that an agent would pick and why."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from registry.core import roles
from registry.core.catalog.prompt import Catalog
from registry.core.errors import InvalidRequest
from registry.core.routing.golden import Case
from registry.models import GoldenCase, Project
from registry.services.agents import agent_catalog, agents
from registry.services.catalog import catalog, skill_list
from registry.services.catalog.catalog import View
from registry.services.routing import golden_set, routing
from registry.web import labels
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.navigation import may
from registry.web.routing import opinions, tabs
from registry.web.routing.question_field import QuestionField
from registry.web.skills import name_options

_RANKED, _SHOWN = 20, 6
_NONE, _OTHER, _SKILL = "none", "other", "skill:"  # values of the buttons that save a test question


class TryForm(forms.Form):
    q = QuestionField(
        label="What would somebody ask?",
        required="Enter a question, in the words that somebody would use.",
        widget=forms.Textarea(attrs={"rows": 2, "data-enter": ""}),
    )
    agent = forms.ChoiceField(
        label="As which agent?", required=False, error_messages={"invalid_choice": "This agent does not exist."}
    )
    kind = forms.ChoiceField(
        label="Kind of skill",
        required=False,
        choices=[("", "Any kind"), *labels.KINDS.items()],
        error_messages={"invalid_choice": "This kind does not exist."},
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = agents.all_of(project).values_list("name", flat=True)
        choices: Any = self.fields["agent"]
        choices.choices = [("", "Any agent that sees all skills"), *((name, name) for name in names)]


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def try_it(request: ProjectRequest) -> HttpResponse:
    """Show the form, and the answer to a question.

    The form is posted, because a question may be as long as a document and must not be in the log of the web server.
    """
    if "right" in request.POST:
        golden_set.require_person(request.actor, request.project)
    data = request.POST if request.method == "POST" else request.GET if "q" in request.GET else None
    form = TryForm(request.project, data)
    context = tabs.page(request, "routing", form=form)
    if form.is_bound and form.is_valid():
        context |= _save(request, form.cleaned_data["q"]) if "right" in request.POST else {}
        context |= _answer(request, **form.cleaned_data)
    status = 422 if form.errors or context.get("refused") else 200
    return render(request, "routing/try_it.html", context, partial="routing/_answer_part.html", status=status)


def _save(request: ProjectRequest, query: str) -> dict[str, Any]:
    """Save the question as a test question, with the answer that the pressed button names.

    A question that is saved already keeps its note and the other acceptable skills.
    """
    known = _known(request, query)
    try:
        right = _right_skills(request)
        case = _case(query, right, known).checked()
        added = golden_set.add(request.project, [case], by=request.actor, labels=["This question"])
    except InvalidRequest as error:
        return {"refused": error.message, "other": request.POST.get("other", "")}
    return {"saved": added}


def _case(query: str, right: tuple[str, ...], known: GoldenCase | None) -> Case:
    if known is None:
        return Case(query, right)
    also = tuple(name for name in known.acceptable if right and name not in right)
    category = known.category if tuple(known.expected) == right else ""
    return Case(query, right, also, category, known.note)


def _right_skills(request: ProjectRequest) -> tuple[str, ...]:
    right = request.POST["right"]
    if right == _NONE:
        return ()
    name = request.POST.get("other", "") if right == _OTHER else right.removeprefix(_SKILL)
    if not name.strip():
        raise InvalidRequest("Enter the name of the skill that should be found. Nothing was saved.")
    found = catalog.find(request.project.pk, name)
    if found is None or not found.served:
        raise InvalidRequest(f"Agents do not get a skill named {name[:80]}. Check the name. Nothing was saved.")
    return (found.name,)


def _known(request: ProjectRequest, query: str) -> GoldenCase | None:
    """Return the test question with these words, for people who may see it."""
    if not may(request, roles.WRITE):
        return None
    return golden_set.find_equal(request.project, query, by=request.actor)


def _whole_list(view: View) -> Catalog:
    return skill_list.fitted(view.served, "text", "")


def _answer(request: ProjectRequest, q: str, agent: str, kind: str) -> dict[str, Any]:
    project = request.project
    as_agent = agents.get(project, agent) if agent else None
    allowed = agents.sees(as_agent) if as_agent else None
    routed = routing.route(project.pk, project.revision, q, allowed=allowed, limit=_RANKED, kind=kind)
    found = opinions.answer(q, routed, shown=_SHOWN)
    view = catalog.view(project.pk, project.revision, allowed=allowed)
    listed = agent_catalog.of_agent(as_agent, project.revision, form="text") if as_agent else _whole_list(view)
    return {
        "answer": found,
        "agent": agent,
        "kind": kind,
        "known": _known(request, q),
        "in_prompt": opinions.in_prompt(found.picked.skill if found.picked else None, listed),
        **name_options.name_options(view),
    }
