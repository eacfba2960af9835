"""The page that shows the catalog exactly as agents get it, and compares its size with known limits."""

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
_DEFAULT_FORM: prompt.Form = "text"
# The upper end that the Agent Skills client guide expects for one skill, and the length at which Claude Code cuts.
_TOKENS_PER_SKILL = 100
_CLAUDE_CODE_CHARS = 1_536


@in_project
@require_safe
def catalog(request: ProjectRequest) -> HttpResponse:
    view = skills.view(request.project.pk, request.project.revision)
    form: prompt.Form = next((known for known in _FORMS if known == request.GET.get("format")), _DEFAULT_FORM)
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
        "text": _to_text(fitted, form, request.project.revision),
        "tokens": prompt.cost(fitted, form, "tokens"),
        "characters": prompt.cost(fitted, form, "characters"),
        "omitted": fitted.omitted,
        "limits": _limits(cost),
    }
    return render(request, "skills/catalog.html", context, status=422 if fault else 200)


def _to_text(fitted: prompt.Catalog, form: prompt.Form, revision: int) -> str:
    if form == "json":
        return json.dumps(prompt.as_json(fitted, revision=str(revision)), ensure_ascii=False, indent=2)
    return prompt.as_text(fitted) if form == "text" else prompt.as_xml(fitted)


def _limits(cost: skill_list.Cost) -> list[dict[str, Any]]:
    """Return the known limits of agents, with the size of this catalog and whether it fits."""
    return [
        {
            "who": "Recommended by Skillsite",
            "limit": f"{skill_list.SUGGESTED_TOKENS:,} tokens for the whole list",
            "size": f"{cost.tokens:,} tokens",
            "fits": cost.tokens <= skill_list.SUGGESTED_TOKENS,
            "fix": "Switch off skills that nobody loads, or shorten descriptions.",
        },
        {
            "who": "Agent Skills client guide",
            "limit": f"50 to {_TOKENS_PER_SKILL} tokens for each skill",
            "size": f"{cost.per_skill:,} tokens on average",
            "fits": cost.per_skill <= _TOKENS_PER_SKILL,
            "fix": "Shorten the longest descriptions.",
        },
        {
            "who": "Claude Code",
            "limit": f"{_CLAUDE_CODE_CHARS:,} characters for one description",
            "size": f"{cost.longest_chars:,} characters ({cost.longest})" if cost.longest else "no skills",
            "fits": cost.longest_chars <= _CLAUDE_CODE_CHARS,
            "fix": f"Shorten the description of {cost.longest}. Claude Code cuts off the rest.",
        },
    ]
