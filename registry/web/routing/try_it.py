"""The page “Try it”: type a question, and see the skill that an agent would pick and why."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from registry.core.routing.golden import QUERY_CHARS
from registry.models import Project
from registry.services.agents import agents
from registry.services.catalog import catalog, skill_list
from registry.services.routing import routing
from registry.web import labels
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.routing import opinions, tabs
from registry.web.skills import name_options

_RANKED, _SHOWN = 20, 6


class TryForm(forms.Form):
    q = forms.CharField(
        label="What would somebody ask?",
        max_length=QUERY_CHARS,
        widget=forms.Textarea(attrs={"rows": 2, "data-enter": ""}),
        error_messages={
            "required": "Enter a question, in the words that somebody would use.",
            "max_length": "The question has %(show_value)s characters. At most %(limit_value)s are allowed.",
            "null_characters_not_allowed": "The question contains a NUL character. Remove it.",
        },
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
    data = request.POST if request.method == "POST" else request.GET if "q" in request.GET else None
    form = TryForm(request.project, data)
    context = tabs.page(request, "routing", form=form)
    if form.is_bound and form.is_valid():
        context |= _answer(request, **form.cleaned_data)
    status = 422 if form.errors else 200
    return render(request, "routing/try_it.html", context, partial="routing/_answer_part.html", status=status)


def _answer(request: ProjectRequest, q: str, agent: str, kind: str) -> dict[str, Any]:
    project = request.project
    allowed = agents.sees(agents.get(project, agent)) if agent else None
    routed = routing.route(project.pk, project.revision, q, allowed=allowed, limit=_RANKED, kind=kind)
    found = opinions.answer(q, routed, shown=_SHOWN)
    view = catalog.view(project.pk, project.revision, allowed=allowed)
    return {
        "answer": found,
        "agent": agent,
        "in_prompt": opinions.in_prompt(found.picked.skill) if found.picked else None,
        "list_cost": skill_list.cost(view),
        **name_options.name_options(view),
    }
