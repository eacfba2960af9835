"""Pages for the agents of a project. All members can open them; only owners change agents."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from registry.core import roles
from registry.core.errors import AlreadyExists, InvalidRequest
from registry.models import Agent
from registry.services.agents import agents, instructions
from registry.services.agents.tokens import Issued, revoke_token, tokens_of
from registry.services.catalog import catalog
from registry.services.catalog.catalog import View
from registry.services.permissions import require
from registry.web import navigation
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.agents import agent_form
from registry.web.agents.agent_form import AgentForm, NewAgentForm
from registry.web.agents.agent_page import AgentPage, visible
from registry.web.agents.tokens import TokenForm, group_by_state
from registry.web.htmx import render
from registry.web.skills import name_options

_PAGE_SIZE = 50
# The text of the empty list, by whether the member may create agents.
_EMPTY = {
    True: "Create an agent to connect a program to this project. You can give it instructions and choose its skills.",
    False: "An agent connects a program to this project. Ask an owner of the project to create one.",
}


@in_project
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    page = Paginator(agents.all_of(request.project), _PAGE_SIZE).get_page(request.GET.get("page"))
    view, rows = _view(request), agents.rows(request.project, page)
    costs = instructions.costs((row.agent for row in rows), view)
    revision = request.project.revision
    items = [
        {"row": row, "instructions": costs[row.agent.name], "catalog": visible(row.agent, view, revision)[1]}
        for row in rows
    ]
    manages = navigation.may(request, roles.MANAGE)
    context = {"rows": items, "page": page, "manages": manages, "empty_text": _EMPTY[manages]}
    return render(request, "agents/list.html", context)


def _view(request: ProjectRequest) -> View:
    return catalog.view(request.project.pk, request.project.revision)


@in_project
@needs(roles.MANAGE, to="add agents")
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: ProjectRequest) -> HttpResponse:
    form = NewAgentForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            agent = agents.create(request.project, form.cleaned_data["name"], form.definition(), by=request.actor)
        except AlreadyExists as error:
            form.add_error("name", error.message)
        except InvalidRequest as error:
            agent_form.add_error(form, error)
        else:
            messages.success(request, f"Agent {agent.name} created. Create a token to connect it.")
            return redirect("agent-tokens", request.project.slug, agent.name)
    return render(request, "agents/new.html", _form_context(request, form), status=422 if form.errors else 200)


def _form_context(request: ProjectRequest, form: AgentForm) -> dict[str, Any]:
    return {"form": form, **name_options.name_options(_view(request))}


@in_project
@require_safe
def agent(request: ProjectRequest, name: str) -> HttpResponse:
    found = agents.get(request.project, name)
    return _render(request, found, "agent", {"details": AgentPage(request.project, found, _view(request))})


def _render(
    request: ProjectRequest, agent: Agent, tab: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render one tab of an agent inside the frame that all its tabs share."""
    (row,) = agents.rows(request.project, [agent])
    manages = navigation.may(request, roles.MANAGE)
    tabs = [("agent", "Overview", None), ("agent-tokens", "Tokens", row.tokens)]
    tabs += [("agent-change", "Edit", None)] if manages else []
    frame = {
        "agent": agent,
        "row": row,
        "manages": manages,
        "tabs": [
            {
                "label": label,
                "count": count,
                "current": view_name == tab,
                "url": reverse(view_name, args=[request.project.slug, agent.name]),
            }
            for view_name, label, count in tabs
        ],
    }
    return render(request, f"agents/{tab.replace('-', '_')}.html", {**frame, **context}, status=status)


@in_project
@needs(roles.MANAGE, to="change agents")
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: ProjectRequest, name: str) -> HttpResponse:
    agent = agents.get(request.project, name)
    form = AgentForm(request.POST if request.method == "POST" else None, initial=agent_form.initial(agent))
    if form.is_bound and form.is_valid():
        try:
            agents.update(request.project, name, form.definition(), by=request.actor)
        except InvalidRequest as error:
            agent_form.add_error(form, error)
        else:
            messages.success(request, f"Saved. {name} gets this with its next request.")
            return redirect("agent", request.project.slug, name)
    return _render(request, agent, "agent-change", _form_context(request, form), status=422 if form.errors else 200)


@never_cache
@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: ProjectRequest, name: str) -> HttpResponse:
    """Only the response to the POST shows the secret."""
    agent = agents.get(request.project, name)
    if request.method != "POST":
        return _tokens(request, agent, _token_form())
    require(request.actor, roles.MANAGE, request.project)
    form = _token_form(request.POST)
    issued = form.issue(request.project, agent=agent, by=request.actor) if form.is_valid() else None
    if issued is None:
        return _tokens(request, agent, form, status=422)
    return _tokens(request, agent, _token_form(), issued=issued, status=201)


def _token_form(data: Any = None) -> TokenForm:
    offered = set(roles.SCOPES) - roles.NEVER_FOR_AGENTS
    return TokenForm(data, offered=offered, ticked=roles.DEFAULT_AGENT_SCOPES)


def _tokens(
    request: ProjectRequest, agent: Agent, form: TokenForm, *, issued: Issued | None = None, status: int = 200
) -> HttpResponse:
    context = {"form": form, "issued": issued, "tokens": group_by_state(tokens_of(agent), timezone.now())}
    return _render(request, agent, "agent-tokens", context, status=status)


@in_project
@require_POST
def revoke(request: ProjectRequest, name: str, token: int) -> HttpResponse:
    revoke_token(request.project, token, agent=agents.get(request.project, name), by=request.actor)
    messages.success(request, "Token revoked. Requests with it now fail.")
    return redirect("agent-tokens", request.project.slug, name)


@in_project
@require_POST
def remove(request: ProjectRequest, name: str) -> HttpResponse:
    agents.remove(request.project, name, by=request.actor)
    messages.success(request, f"{name} removed and its tokens revoked. Its versions and proposals keep its name.")
    return redirect("agents", request.project.slug)
