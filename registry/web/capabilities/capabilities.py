"""The capabilities of a project: the list, and one capability."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from registry.core import roles
from registry.core.text.shorten import shorten
from registry.core.workflows.values import Field, canonical
from registry.services.capabilities import capability_list, capability_users
from registry.services.capabilities.capability_list import Entry
from registry.services.capabilities.capability_registry import OPERATOR, PROJECT
from registry.web.access import ProjectRequest, in_project
from registry.web.capabilities import capability_words
from registry.web.htmx import render
from registry.web.navigation import may

_QUERY_CHARS = 200
_DEFAULT_CHARS = 120
_KINDS = (("", "Any effect"), ("changes", "Changes something"), ("nothing", "Changes nothing"))


@dataclass(frozen=True, slots=True)
class Row:
    entry: Entry
    facts: list[str]


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    note: str
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class FieldRow:
    """An input or an output. `default` is JSON, and empty if there is none."""

    field: Field
    default: str


@in_project
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    """List the capabilities that steps can use."""
    listing = capability_list.listing(request.project, by=request.actor)
    query, effect = request.GET.get("q", "")[:_QUERY_CHARS].strip(), request.GET.get("effect", "")
    found = [entry for entry in listing.entries if _matches(entry, query.casefold(), effect)]
    context: dict[str, Any] = {
        "groups": _groups(found),
        "found": len(found),
        "total": len(listing.entries),
        "broken": listing.broken,
        "query": query,
        "effect": effect,
        "effects": _KINDS,
        "manages": may(request, roles.MANAGE),
    }
    return render(request, "capabilities/list.html", context, partial="capabilities/_results.html")


@in_project
@require_safe
def show(request: ProjectRequest, name: str) -> HttpResponse:
    """Show one capability, by its id or an alias."""
    entry = capability_list.entry(request.project, name, by=request.actor)
    capability = entry.capability
    context: dict[str, Any] = {
        "entry": entry,
        "capability": capability,
        "source": capability_words.SOURCES[entry.source],
        "manages": entry.source == PROJECT and may(request, roles.MANAGE),
    }
    if capability is not None:
        context |= {
            "fields": [
                ("Inputs", "input", _fields(capability.inputs.values())),
                ("Outputs", "output", _fields(capability.outputs.values())),
            ],
            "sentences": capability_words.sentences(capability),
            "kind": capability_words.kind(capability),
            "example": capability_words.example(capability),
            "users": capability_users.users(request.project, (capability.id, *capability.aliases)),
        }
    return render(request, "capabilities/capability.html", context)


def _matches(entry: Entry, query: str, effect: str) -> bool:
    capability = entry.capability
    if capability is None:
        return not effect and query in entry.id
    wanted = {"changes": True, "nothing": False}.get(effect)
    if wanted is not None and capability.properties.side_effects is not wanted:
        return False
    text = " ".join((entry.id, capability.description, *capability.aliases)).casefold()
    return all(word in text for word in query.split())


def _groups(entries: Iterable[Entry]) -> list[Group]:
    """Return the entries by their source, and the built-in ones by their subject."""
    titles = {PROJECT: "Registered in this project", OPERATOR: "Registered by the operator"}
    notes = {PROJECT: "by owners, for this project alone", OPERATOR: "for all projects of this site"}
    groups: dict[str, Group] = {}
    for entry in entries:
        title = titles.get(entry.source) or capability_words.group(entry.id)
        note = notes.get(entry.source, "built-in")
        groups.setdefault(title, Group(title, note, [])).rows.append(_row(entry))
    order = [*titles.values()]
    return sorted(groups.values(), key=lambda group: order.index(group.title) if group.title in order else len(order))


def _row(entry: Entry) -> Row:
    return Row(entry, capability_words.facts(entry.capability) if entry.capability else [])


def _fields(fields: Iterable[Field]) -> list[FieldRow]:
    return [
        FieldRow(field, shorten(canonical(field.default), _DEFAULT_CHARS) if field.has_default else "")
        for field in fields
    ]
