"""Template tags for the questions of runs."""

from django import template
from django.template import Context
from django.utils.safestring import SafeString

from registry.services.workflows.run_details import RunDetails
from registry.templatetags import ui
from registry.web import labels
from registry.web.runs import question_panels
from registry.web.runs.question_panels import RunQuestions

register = template.Library()

_STATES = {
    "open": ("accent", "clock"),
    "approved": ("ok", "check"),
    "denied": ("danger", "x"),
    "expired": ("warn", "clock"),
    "withdrawn": ("", "skip"),
}


@register.simple_tag(takes_context=True)
def questions_of(context: Context, details: RunDetails) -> RunQuestions:
    """Return the questions of a run: panels, and lines for the rest."""
    return question_panels.of_run(details, by=context["request"].actor)


@register.simple_tag
def question_badge(state: str, kind: str = "approve") -> SafeString:
    """Return the badge of a question of a run."""
    return ui.badge(labels.question_state(state, kind), *_STATES[state])
