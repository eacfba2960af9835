"""The catalog, what stands behind it, and what was left out of it."""

from collections.abc import Collection
from typing import Any, Literal, cast

from django.conf import settings
from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import shapes
from registry.api.read_view import Answer, Read, as_json, page
from registry.core.catalog import prompt
from registry.core.catalog.precedence import BUNDLED, PROJECT, EffectiveSkill
from registry.core.errors import InvalidRequest
from registry.core.format import skill_md
from registry.services.agents.tokens import Caller
from registry.services.catalog import catalog

Form = Literal["json", "text", "xml"]
_SOURCES = [PROJECT, BUNDLED]
_BUDGET = (
    "2000 or 2000tokens; 8000chars; or the name of an agent whose listing has a known limit: "
    f"{', '.join(prompt.PRESETS)}. What does not fit is named."
)
_FORMS = {
    "json": "application/json",
    "text": "text/plain; charset=utf-8",
    "xml": "application/xml; charset=utf-8",
}


class Catalog(Read):
    @extend_schema(
        operation_id="catalog",
        summary="Names and descriptions of the skills an agent may load",
        parameters=[
            OpenApiParameter(
                "q", str, description="Skills with every word in name, description, tags or triggers, best first."
            ),
            OpenApiParameter("tag", str),
            OpenApiParameter("kind", str, enum=list(skill_md.KINDS)),
            OpenApiParameter("source", str, enum=_SOURCES),
            OpenApiParameter("budget", str, description=_BUDGET),
            OpenApiParameter("format", str, enum=list(_FORMS)),
        ],
        responses={
            (200, "application/json"): shapes.CatalogShape,
            (200, "text/plain"): str,
            (200, "application/xml"): str,
        },
    )
    def get(self, request: Request, project: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        form, budget = _form(request), request.GET.get("budget", "")
        lines = [
            prompt.CatalogLine(candidate.name, candidate.description)
            for candidate in catalog.matching(
                catalog.view(caller.project_id, caller.revision, allowed=caller.allowed).served,
                q=request.GET.get("q", ""),
                tag=request.GET.get("tag", ""),
                kind=skill_md.KINDS.get(_one_of(request, "kind", skill_md.KINDS), ""),
                source=_one_of(request, "source", _SOURCES),
            )
        ]
        fitted = prompt.fit(
            lines,
            budget=prompt.parse_budget(budget) if budget else None,
            form=form,
            limits=settings.LIMITS,
        )
        if form == "json":
            return as_json(prompt.as_json(fitted, revision=str(caller.revision)))
        text = prompt.as_text(fitted) if form == "text" else prompt.as_xml(fitted)
        return Answer(text.encode(), _FORMS[form])


def _one_of(request: HttpRequest, name: str, known: Collection[str]) -> str:
    """A misspelt filter is refused: an empty catalog would say that there are no such skills."""
    asked = request.GET.get(name, "")
    if asked and asked not in known:
        raise InvalidRequest(f"There is no {name} {asked[:40]!r}. There are: {', '.join(known)}.")
    return asked


def _form(request: HttpRequest) -> Form:
    """`?format=` decides, else what Accept prefers among the three, else JSON."""
    if asked := _one_of(request, "format", _FORMS):
        return cast(Form, asked)
    preferred = request.get_preferred_type(["application/json", "text/plain", "application/xml", "text/xml"])
    return "text" if preferred == "text/plain" else "xml" if preferred and "xml" in preferred else "json"


_PAGING = [
    OpenApiParameter("limit", int, description="1 to 1,000; 100 when not given."),
    OpenApiParameter("offset", int),
]


class EffectiveSkills(Read):
    @extend_schema(
        operation_id="effective",
        summary="The winner of each name, what it hides, and why",
        parameters=_PAGING,
        responses=shapes.EffectivePage,
    )
    def get(self, request: Request, project: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        asked = page(request)
        skills = catalog.view(caller.project_id, caller.revision, allowed=caller.allowed).skills
        shown = [_effective(skill) for skill in skills[asked.offset : asked.offset + asked.limit]]
        return as_json({"results": shown, "next": asked.next_link(request, len(skills))})


def _effective(skill: EffectiveSkill) -> dict[str, Any]:
    winner = skill.winner
    return {
        "name": skill.name,
        "source": winner.source if winner else "project",
        "version": winner.version if winner else None,
        "digest": winner.digest if winner else None,
        "enabled": skill.enabled,
        "hides": [shapes.hidden(one) for one in skill.hides],
    }


class Diagnostics(Read):
    @extend_schema(
        operation_id="diagnostics",
        summary="Skills that no agent gets, and what to mend",
        parameters=_PAGING,
        responses=shapes.DiagnosticsPage,
    )
    def get(self, request: Request, project: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        asked = page(request)
        left_out = catalog.view(caller.project_id, caller.revision, allowed=caller.allowed).left_out
        shown = [
            {
                "name": one.name,
                "directory": one.directory,
                "file": one.file,
                "line": one.line,
                "code": one.code,
                "message": one.message,
            }
            for one in left_out[asked.offset : asked.offset + asked.limit]
        ]
        return as_json({"results": shown, "next": asked.next_link(request, len(left_out))})
