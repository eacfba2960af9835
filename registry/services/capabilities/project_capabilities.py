"""Capabilities that owners register for their project, within the limits of `capability_linking.py`."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Conflict, InvalidRequest, NotFound, Stale
from registry.core.findings import Finding, Severity, errors
from registry.core.workflows import capability_yaml
from registry.core.workflows.capability import Capability
from registry.core.workflows.capability_linking import TAKEN
from registry.core.workflows.capability_yaml import FILE
from registry.models import Project, ProjectCapability
from registry.services import audit
from registry.services.capabilities import capability_files
from registry.services.capabilities.capability_registry import linked
from registry.services.permissions import Actor, require

MOST_OF_A_PROJECT = 100
MOST_CHARS_OF_A_PROJECT = 256_000
TOO_MANY = "capability-many"


@dataclass(frozen=True, slots=True)
class Checked:
    """A definition as it would be registered. `capability` is None if a finding is an error."""

    id: str
    capability: Capability | None
    findings: tuple[Finding, ...]
    text: str


def check(project: Project, text: str, *, name: str = "", by: Actor) -> Checked:
    """Check a definition. `name` is the id of the one that it replaces. Problems are findings, never raised."""
    require(by, roles.MANAGE, project)
    return _checked(project, text, name)


def _checked(project: Project, text: str, name: str) -> Checked:
    """Check a text with the other capabilities of the project, of which none may lose what it relies on."""
    text = text.replace("\r\n", "\n")
    parsed = capability_yaml.parse(text, limits=settings.LIMITS)
    if parsed.draft is None:
        return Checked(parsed.id, None, parsed.findings, text)
    others = _others(project, name)
    if fault := _fault(parsed.id, text, others):
        return Checked(parsed.id, None, (*parsed.findings, fault), text)
    found = linked(capability_files.snapshot().capabilities, {**others, parsed.id: text}, project.pk)
    findings = found.findings[parsed.id]
    return Checked(parsed.id, None if errors(findings) else found.capabilities.by_id[parsed.id], findings, text)


def _others(project: Project, name: str) -> dict[str, str]:
    """Return the texts of the capabilities of a project, except for one."""
    rows = ProjectCapability.objects.filter(project=project).exclude(name=name).order_by("pk")
    return dict(rows.values_list("name", "text"))


def _fault(id_: str, text: str, others: Mapping[str, str]) -> Finding | None:
    if id_ in others:
        message = f"The project already has a capability {id_}."
        return Finding(TAKEN, Severity.ERROR, FILE, 1, message, "Change that one, or choose another id.")
    if len(others) >= MOST_OF_A_PROJECT:
        message = f"The project has {len(others)} capabilities. {MOST_OF_A_PROJECT} are allowed."
        return Finding(TOO_MANY, Severity.ERROR, FILE, 1, message, "Remove one first.")
    chars = len(text) + sum(map(len, others.values()))
    if chars > MOST_CHARS_OF_A_PROJECT:
        limit = f"{MOST_CHARS_OF_A_PROJECT:,} are allowed."
        message = f"All capabilities of the project would have {chars:,} characters. {limit}"
        return Finding(TOO_MANY, Severity.ERROR, FILE, 1, message, "Write less, or remove one first.")
    return None


def find(project: Project, name: str, *, by: Actor) -> ProjectCapability:
    """Return a capability of the owners. Raise NotFound for those of operators, which nobody changes here."""
    require(by, roles.READ, project)
    row = ProjectCapability.objects.filter(project=project, name=name).for_list().first()
    if row is None:
        raise NotFound(f"No owner of this project has registered a capability {name[:128]}.")
    return row


def register(project: Project, text: str, *, by: Actor) -> ProjectCapability:
    """Register a capability. Raise InvalidRequest with findings if it has errors."""
    require(by, roles.MANAGE, project)
    checked = _valid(project, text)
    with audit.change(project, "capability.registered", by=by, target=checked.id) as change:
        if fault := _fault(checked.id, checked.text, _others(project, "")):
            raise Conflict(f"{fault.message} {fault.fix} Nothing was saved.")
        row = ProjectCapability(project=project, name=checked.id)
        _store(row, checked.text, change, by)
    return row


def change(project: Project, name: str, text: str, *, seen: str, by: Actor) -> ProjectCapability:
    """Replace a definition. `seen` is the digest of the text that the caller started from."""
    require(by, roles.MANAGE, project)
    find(project, name, by=by)
    checked = _valid(project, text, name)
    if checked.id != name:
        raise InvalidRequest(
            f"The id cannot change, because steps use {name}. Write `id: {name}`, or register another capability.",
            field="text",
        )
    with audit.change(project, "capability.changed", by=by, target=name) as change:
        row = _locked(project, name)
        if row.digest != seen:
            raise Stale(
                f"Somebody else changed {name} meanwhile. Open the page again, and add your change to theirs.",
                digest=row.digest,
            )
        if row.digest == _digest(checked.text):
            change.cancel()
            return row
        change.before = row.digest
        _store(row, checked.text, change, by)
    return row


def remove(project: Project, name: str, *, by: Actor) -> None:
    """Remove a capability. Steps that use it fail from then on."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "capability.removed", by=by, target=name) as change:
        row = _locked(project, name)
        change.before = row.digest
        row.delete()


def _valid(project: Project, text: str, name: str = "") -> Checked:
    checked = _checked(project, text, name)
    if found := errors(checked.findings):
        first = found[0]
        message = f"Line {first.line}: {first.message} {first.fix} Nothing was saved."
        raise InvalidRequest(message, field="text", findings=checked.findings, file=FILE)
    return checked


def _locked(project: Project, name: str) -> ProjectCapability:
    row = ProjectCapability.objects.select_for_update().filter(project=project, name=name).first()
    if row is None:
        raise NotFound(f"No owner of this project has registered a capability {name[:128]}. Nothing was changed.")
    return row


def _store(row: ProjectCapability, text: str, change: audit.Change, by: Actor) -> None:
    row.text, row.digest = text, _digest(text)
    row.changed_by_id, row.changed_at = by.user_id, timezone.now()
    change.after = row.digest
    row.save()


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
