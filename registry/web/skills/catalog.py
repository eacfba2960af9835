"""The catalog exactly as an agent gets it, and how it fits what agents have room for."""

import json
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from registry.core.catalog import prompt
from registry.core.errors import InvalidRequest
from registry.services.catalog import catalog as skills
from registry.services.catalog import skill_list
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render

_FORMS: dict[prompt.Form, str] = {"text": "Text", "xml": "XML", "json": "JSON"}
_USUAL: prompt.Form = "text"
# What the client guide of Agent Skills calls usual for one skill, and where Claude Code cuts a description.
_USUAL_PER_SKILL = 100
_CLAUDE_CODE_CHARS = 1_536


@in_project
@require_safe
def catalog(request: ProjectRequest) -> HttpResponse:
    view = skills.view(request.project.pk, request.project.revision)
    form: prompt.Form = next((known for known in _FORMS if known == request.GET.get("format")), _USUAL)
    budget, fault = request.GET.get("budget", "").strip()[:40], ""
    try:
        fitted = skill_list.fitted(view.served, form, budget)
    except InvalidRequest as error:
        fitted, fault = skill_list.fitted(view.served, form, ""), error.message
    cost = skill_list.cost(view)
    context = {
        "form": form,
        "forms": _FORMS,
        "budget": budget,
        "presets": prompt.PRESETS,
        "fault": fault,
        "text": _written(fitted, form, request.project.revision),
        "tokens": prompt.cost(fitted, form, "tokens"),
        "characters": prompt.cost(fitted, form, "characters"),
        "omitted": fitted.omitted,
        "cost": cost,
        "fits": _fits(cost),
    }
    return render(request, "skills/catalog.html", context, status=422 if fault else 200)


def _written(fitted: prompt.Catalog, form: prompt.Form, revision: int) -> str:
    if form == "json":
        return json.dumps(prompt.as_json(fitted, revision=str(revision)), ensure_ascii=False, indent=2)
    return prompt.as_text(fitted) if form == "text" else prompt.as_xml(fitted)


def _fits(cost: skill_list.Cost) -> list[dict[str, Any]]:
    """What is known about the room agents have, beside what this catalog takes."""
    return [
        {
            "who": "Suggested here",
            "room": f"{skill_list.SUGGESTED_TOKENS:,} tokens for the whole catalog",
            "takes": f"{cost.tokens:,} tokens",
            "fits": cost.tokens <= skill_list.SUGGESTED_TOKENS,
            "fix": "Switch off what nobody loads, or shorten descriptions.",
        },
        {
            "who": "Agent Skills client guide",
            "room": f"50 to {_USUAL_PER_SKILL} tokens for each skill",
            "takes": f"{cost.per_skill:,} tokens on average",
            "fits": cost.per_skill <= _USUAL_PER_SKILL,
            "fix": "Shorten the longest descriptions.",
        },
        {
            "who": "Claude Code",
            "room": f"{_CLAUDE_CODE_CHARS:,} characters for one description",
            "takes": f"{cost.longest_chars:,} characters, {cost.longest}" if cost.longest else "no skills",
            "fits": cost.longest_chars <= _CLAUDE_CODE_CHARS,
            "fix": f"Shorten the description of {cost.longest}: the rest is cut off.",
        },
    ]
