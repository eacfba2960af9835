"""Views of the catalog, the effective skills behind it, and the diagnostics of skills that are left out of it."""

from collections.abc import Collection
from typing import Annotated, Literal, TypedDict, cast

from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, extend_schema

from registry.api.answers import HiddenShape, hidden_shapes
from registry.api.read_view import PAGE_PARAMETERS, Answer, Read, as_json, parse_page
from registry.core.catalog import prompt
from registry.core.catalog.precedence import BUNDLED, PROJECT, EffectiveSkill
from registry.core.errors import InvalidRequest
from registry.core.format import skill_md
from registry.core.routing.golden import QUERY_CHARS
from registry.services.agents import agent_catalog
from registry.services.agents.agent_catalog import CatalogQuery
from registry.services.agents.tokens import Caller
from registry.services.catalog import catalog, public_root

Form = Literal["json", "text", "xml"]
_SOURCES = [PROJECT, BUNDLED]
_BUDGET = (
    "2000 or 2000tokens, 8000chars, or the name of an agent with a known limit: "
    f"{', '.join(prompt.PRESETS)}. Skills that do not fit are named in the answer."
)
_Q = "Search words. Skills that match some of them, best first; plurals, typos and words of the instructions count."
_FOR = (
    "A prompt or a question. The skills that fit it are first, so that a budget keeps those. "
    "No skill is left out because of it."
)
_FORMS = {
    "json": "application/json",
    "text": "text/plain; charset=utf-8",
    "xml": "application/xml; charset=utf-8",
}


class EffectiveShape(TypedDict):
    name: str
    source: str
    version: str | None
    digest: str | None
    enabled: bool
    hides: list[HiddenShape]


class EffectivePage(TypedDict):
    results: list[EffectiveShape]
    next: str | None


class DiagnosticShape(TypedDict):
    name: str
    directory: str
    file: str
    line: int | None
    code: str
    message: str
    served: Annotated[bool, "True if agents get the skill all the same."]


class DiagnosticsPage(TypedDict):
    results: list[DiagnosticShape]
    next: str | None


class Catalog(Read):
    def is_cached(self, request: HttpRequest, caller: Caller) -> bool:
        """Do not cache what routing has chosen: it gets better when the index is complete or a failed link recovers."""
        return not (request.GET.get("q") or request.GET.get("for") or caller.best_skills)

    @extend_schema(
        operation_id="catalog",
        summary="List the names and descriptions of the skills that an agent may load",
        parameters=[
            OpenApiParameter("q", str, description=_Q),
            OpenApiParameter("for", str, description=_FOR),
            OpenApiParameter("tag", str),
            OpenApiParameter("kind", str, enum=list(skill_md.KINDS)),
            OpenApiParameter("source", str, enum=_SOURCES),
            OpenApiParameter("budget", str, description=_BUDGET),
            OpenApiParameter("format", str, enum=list(_FORMS)),
        ],
        responses={
            (200, "application/json"): prompt.CatalogShape,
            (200, "text/plain"): str,
            (200, "application/xml"): str,
        },
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        form = _form(request)
        query = CatalogQuery(
            q=_bounded(request, "q"),
            prompt=_bounded(request, "for"),
            tag=request.GET.get("tag", ""),
            kind=skill_md.KINDS.get(_one_of(request, "kind", skill_md.KINDS), ""),
            source=_one_of(request, "source", _SOURCES),
        )
        fitted = agent_catalog.of_caller(caller, query, form=form, budget=request.GET.get("budget", ""))
        if form == "json":
            return as_json(prompt.as_json(fitted, revision=str(caller.revision)))
        text = prompt.as_text(fitted) if form == "text" else prompt.as_xml(fitted)
        return Answer(text.encode(), _FORMS[form])


def _bounded(request: HttpRequest, name: str) -> str:
    text = request.GET.get(name, "")
    if len(text) > QUERY_CHARS:
        raise InvalidRequest(f"{name} has {len(text):,} characters. {QUERY_CHARS:,} are allowed.", field=name)
    return text


def _one_of(request: HttpRequest, name: str, known: Collection[str]) -> str:
    """Refuse an unknown value: an empty catalog would suggest that there are no such skills."""
    value = request.GET.get(name, "")
    if value and value not in known:
        raise InvalidRequest(f"There is no {name} {value[:40]!r}. There are: {', '.join(known)}.")
    return value


def _form(request: HttpRequest) -> Form:
    """Return the form of `?format=`, else the one that Accept prefers, else JSON."""
    if form := _one_of(request, "format", _FORMS):
        return cast(Form, form)
    preferred = request.get_preferred_type(["application/json", "text/plain", "application/xml", "text/xml"])
    return "text" if preferred == "text/plain" else "xml" if preferred and "xml" in preferred else "json"


class EffectiveSkills(Read):
    @extend_schema(
        operation_id="effective",
        summary="List the effective skill of each name, the skills that it hides, and why",
        parameters=PAGE_PARAMETERS,
        responses=EffectivePage,
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        page = parse_page(request)
        skills = catalog.view(caller.project_id, caller.revision, allowed=caller.allowed).skills
        results = [effective_shape(skill) for skill in skills[page.bounds]]
        return as_json(EffectivePage(results=results, next=page.next_link(request, len(skills))))


def effective_shape(skill: EffectiveSkill) -> EffectiveShape:
    winner = skill.winner
    return {
        "name": skill.name,
        "source": winner.source if winner else "project",
        "version": winner.version if winner else None,
        "digest": winner.digest if winner else None,
        "enabled": skill.enabled,
        "hides": hidden_shapes(skill.hides),
    }


class Diagnostics(Read):
    def other_state(self, caller: Caller) -> str:
        return public_root.state(caller.project_slug)

    @extend_schema(
        operation_id="diagnostics",
        summary="List skills that no agent gets or that have a problem, and what to fix",
        parameters=PAGE_PARAMETERS,
        responses=DiagnosticsPage,
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        page = parse_page(request)
        view = catalog.view(caller.project_id, caller.revision, allowed=caller.allowed)
        hidden = public_root.diagnostics(caller.project_slug)
        diagnostics = view.diagnostics + tuple(
            item for item in hidden if caller.allowed is None or item.name in caller.allowed
        )
        results: list[DiagnosticShape] = [
            {
                "name": skill.name,
                "directory": skill.directory,
                "file": skill.file,
                "line": skill.line,
                "code": skill.code,
                "message": skill.message,
                "served": skill.served,
            }
            for skill in diagnostics[page.bounds]
        ]
        return as_json(DiagnosticsPage(results=results, next=page.next_link(request, len(diagnostics))))
