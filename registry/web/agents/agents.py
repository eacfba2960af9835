"""The agents of a project: what each is told and may see, and its tokens. Everybody looks, owners change."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from registry.core import roles
from registry.core.catalog import prompt
from registry.core.catalog.visibility import Definition
from registry.core.errors import AlreadyExists, Conflict, InvalidRequest
from registry.models import Agent
from registry.services.agents import agents, instructions
from registry.services.agents.instructions import Instructions
from registry.services.agents.tokens import Issued, revoke_token, tokens_of
from registry.services.catalog import catalog, skill_list
from registry.services.catalog.catalog import View
from registry.web import navigation
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.agents.tokens import TokenForm, listed
from registry.web.htmx import render
from registry.web.skills import name_options

_PAGE = 50
_ALL, _LISTED = "all", "listed"
_LONG = {"rows": 5, "spellcheck": "true"}
_NAMES = {
    "list": "known-names",
    "data-chips": "Add a skill",
    "data-one": "skill",
    "autocomplete": "off",
    "autocapitalize": "none",
}
_PARTS = {instructions.PROMPT: "Role prompt", instructions.INSTRUCTIONS: "Own instructions"}


class AgentForm(forms.Form):
    prompt = forms.CharField(
        label="Role prompt",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs=_LONG),
        help_text="Who it is and what it is for. The first thing it is told.",
    )
    uses_skills = forms.CharField(
        label="Uses skills",
        required=False,
        widget=forms.TextInput(attrs=_NAMES),
        help_text="Their instructions follow the prompt, in this order. It has them without loading them.",
    )
    instructions = forms.CharField(
        label="Own instructions",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs=_LONG),
        help_text="What holds for this agent alone. The last thing it is told.",
    )
    sees = forms.ChoiceField(
        label="May see",
        choices=[(_ALL, "All skills"), (_LISTED, "Only these")],
        initial=_ALL,
        error_messages={"required": "Choose what the agent may see."},
    )
    allowed_skills = forms.CharField(
        label="Skills it may see",
        required=False,
        widget=forms.TextInput(attrs=_NAMES),
        help_text="With “Only these”: these and the ones it uses are all it finds, on every door.",
    )
    trust = forms.ChoiceField(
        choices=[(level, level.capitalize()) for level in roles.TRUST_LEVELS],
        initial=roles.STANDARD,
        label="Trust level",
        help_text=(
            "For programs that ask over the API how far to trust it. Here it changes nothing yet: neither what the "
            "agent sees nor what it may do."
        ),
    )

    def definition(self) -> Definition:
        given = self.cleaned_data
        return Definition(
            prompt=_lines(given["prompt"]),
            instructions=_lines(given["instructions"]),
            uses_skills=_names(given["uses_skills"]),
            allowed_skills=_names(given["allowed_skills"]) if given["sees"] == _LISTED else None,
            trust=given["trust"],
        )


class NewAgentForm(AgentForm):
    name = forms.CharField(
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
        help_text="Lower-case letters, digits and hyphens. Logs and proposals show it, so it stays.",
        error_messages={"required": "Give the agent a name, for example expense-desk."},
    )
    field_order = ["name"]


def _lines(text: str) -> str:
    """A browser sends every line end as two characters."""
    return text.replace("\r\n", "\n")


def _names(text: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in text.replace("\n", ",").split(",") if name.strip())


def _standing(agent: Agent) -> dict[str, Any]:
    return {
        "prompt": agent.prompt,
        "instructions": agent.instructions,
        "uses_skills": ", ".join(agent.uses_skills),
        "sees": _ALL if agent.allowed_skills is None else _LISTED,
        "allowed_skills": ", ".join(agent.allowed_skills or ()),
        "trust": agent.trust,
    }


@in_project
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    page = Paginator(agents.all_of(request.project), _PAGE).get_page(request.GET.get("page"))
    view, rows = _view(request), agents.rows(request.project, page)
    told = instructions.costs((row.agent for row in rows), view)
    shown = [{"row": row, "told": told[row.agent.name], "catalog": _seen(row.agent, view)[1]} for row in rows]
    return render(
        request, "agents/list.html", {"rows": shown, "page": page, "manages": navigation.may(request, roles.MANAGE)}
    )


def _view(request: ProjectRequest) -> View:
    return catalog.view(request.project.pk, request.project.revision)


def _seen(agent: Agent, view: View) -> tuple[View, int]:
    """The skills as the agent sees them, and what their catalog costs."""
    allowed = agents.sees(agent)
    if allowed is None:
        return view, skill_list.cost(view).tokens
    own = view.only(allowed)
    return own, prompt.cost(skill_list.fitted(own.served, "text", ""), "text", "tokens")


@in_project
@needs(roles.MANAGE, to="add agents")
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: ProjectRequest) -> HttpResponse:
    form = NewAgentForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            made = agents.create(request.project, form.cleaned_data["name"], form.definition(), by=request.actor)
        except AlreadyExists as error:
            form.add_error("name", error.message)
        except InvalidRequest as error:
            form.add_error(None, f"{error.message} Nothing was stored.")
        else:
            messages.success(request, f"{made.name} is there. Make a token, and it can come in.")
            return redirect("agent-tokens", request.project.slug, made.name)
    return render(request, "agents/new.html", _to_fill_in(request, form), status=422 if form.errors else 200)


def _to_fill_in(request: ProjectRequest, form: AgentForm) -> dict[str, Any]:
    return {"form": form, **name_options.offered(_view(request))}


@in_project
@require_safe
def agent(request: ProjectRequest, name: str) -> HttpResponse:
    """Exactly what the agent is given, and what it costs."""
    found, whole = agents.get(request.project, name), _view(request)
    own, catalog_tokens = _seen(found, whole)
    told = _told(found)
    given = {
        "parts": [_part(part) for part in told.parts] if told else [],
        "told": told,
        "missing": instructions.unavailable(found.uses_skills, whole),
        "unseen": instructions.unavailable(found.allowed_skills or (), whole),
        "catalog": prompt.as_text(skill_list.fitted(own.served, "text", "")),
        "catalog_tokens": catalog_tokens,
        "skills": len(own.served),
        "call": _call(request, found),
        "total": (told.tokens if told else 0) + catalog_tokens,
    }
    return _frame(request, found, "agent", given)


def _call(request: ProjectRequest, found: Agent) -> str:
    address = f"{settings.PUBLIC_URL}{reverse('api-instructions', args=[request.project.slug, found.name])}?format=text"
    return f'curl -H "Authorization: Bearer $TOKEN" "{address}"'


def _told(found: Agent) -> Instructions | None:
    """None where a skill that it uses cannot be had; the agent then gets an error, not a part."""
    try:
        return instructions.compose(found)
    except Conflict:
        return None


def _part(part: instructions.Part) -> dict[str, Any]:
    return {
        "label": _PARTS.get(part.kind, ""),
        "skill": part.skill.candidate if part.skill else None,
        "tokens": part.tokens,
        "text": part.text,
    }


def _frame(request: ProjectRequest, found: Agent, tab: str, more: dict[str, Any], *, status: int = 200) -> HttpResponse:
    (row,) = agents.rows(request.project, [found])
    manages = navigation.may(request, roles.MANAGE)
    tabs = [("agent", "What it is given", None), ("agent-tokens", "Tokens", row.tokens)]
    tabs += [("agent-change", "Change", None)] if manages else []
    around = {
        "agent": found,
        "row": row,
        "manages": manages,
        "tabs": [
            {"label": label, "count": count, "current": to == tab, "url": _address(request, to, found)}
            for to, label, count in tabs
        ],
    }
    return render(request, f"agents/{tab.replace('-', '_')}.html", {**around, **more}, status=status)


def _address(request: ProjectRequest, name: str, found: Agent) -> str:
    return reverse(name, args=[request.project.slug, found.name])


@in_project
@needs(roles.MANAGE, to="change agents")
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: ProjectRequest, name: str) -> HttpResponse:
    found = agents.get(request.project, name)
    form = AgentForm(request.POST if request.method == "POST" else None, initial=_standing(found))
    if form.is_bound and form.is_valid():
        try:
            agents.update(request.project, name, form.definition(), by=request.actor)
        except InvalidRequest as error:
            form.add_error(None, f"{error.message} Nothing was stored.")
        else:
            messages.success(request, f"{name} is saved. It is told this from its next request on.")
            return redirect("agent", request.project.slug, name)
    return _frame(request, found, "agent-change", _to_fill_in(request, form), status=422 if form.errors else 200)


@never_cache
@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: ProjectRequest, name: str) -> HttpResponse:
    """The answer to the POST is the only page that ever shows the secret."""
    found = agents.get(request.project, name)
    if request.method != "POST":
        return _tokens(request, found, _token_form())
    form = _token_form(request.POST)
    made = form.issue(request.project, agent=found, by=request.actor) if form.is_valid() else None
    return _tokens(request, found, _token_form(), made=made) if made else _tokens(request, found, form, status=422)


def _token_form(data: Any = None) -> TokenForm:
    offered = set(roles.SCOPES) - roles.NEVER_FOR_AGENTS
    return TokenForm(data, offered=offered, ticked=roles.DEFAULT_AGENT_SCOPES)


def _tokens(
    request: ProjectRequest, found: Agent, form: TokenForm, *, made: Issued | None = None, status: int | None = None
) -> HttpResponse:
    more = {"form": form, "made": made, "tokens": listed(tokens_of(found), timezone.now())}
    return _frame(request, found, "agent-tokens", more, status=status or (201 if made else 200))


@in_project
@require_POST
def revoke(request: ProjectRequest, name: str, token: int) -> HttpResponse:
    revoke_token(request.project, token, agent=agents.get(request.project, name), by=request.actor)
    messages.success(request, "The token is revoked. It is refused from now on.")
    return redirect("agent-tokens", request.project.slug, name)


@in_project
@require_POST
def remove(request: ProjectRequest, name: str) -> HttpResponse:
    agents.remove(request.project, name, by=request.actor)
    messages.success(request, f"{name} is removed, and its tokens are refused. What it wrote keeps its name.")
    return redirect("agents", request.project.slug)
