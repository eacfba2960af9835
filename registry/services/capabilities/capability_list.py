"""The capabilities of a project for people: their origin, and the files with errors."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from registry.core import roles
from registry.core.errors import NotFound
from registry.core.findings import Finding, errors
from registry.core.text.nearest import nearest_of
from registry.core.workflows.capability import Capability
from registry.models import Project, ProjectCapability
from registry.services.capabilities import capability_files, capability_registry
from registry.services.capabilities.capability_files import CapabilityFile
from registry.services.capabilities.capability_registry import BUILT_IN, OPERATOR, PROJECT
from registry.services.permissions import Actor, require


@dataclass(frozen=True, slots=True)
class Entry:
    """A capability. `row` is set for one of an owner. `capability` is None if it has errors, so nothing can use it.

    `source` is who registered it, as `capability_registry.source_of` names them.
    """

    id: str
    source: str
    capability: Capability | None
    file: str = ""  # of the operator
    row: ProjectCapability | None = None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """`broken` are files of the operator with errors."""

    entries: tuple[Entry, ...]
    broken: tuple[CapabilityFile, ...]


def listing(project: Project, *, by: Actor) -> Listing:
    """Return all capabilities: those of owners, those of the operator, and the built-in ones."""
    require(by, roles.READ, project)
    snapshot, project_set = capability_files.snapshot(), capability_registry.of_owners(project.pk)
    files = {file.id: file for file in snapshot.files if file.id}
    rows = {row.name: row for row in ProjectCapability.objects.filter(project=project).for_list()}
    entries = [_of_owner(row, project_set.capabilities.by_id, project_set.findings) for row in rows.values()]
    for id_, capability in snapshot.capabilities.by_id.items():
        if id_ in capability_files.BUILT_IN:
            entries.append(Entry(id_, BUILT_IN, capability))
        else:
            file = files.get(id_)
            entries.append(
                Entry(id_, OPERATOR, capability, file.label if file else "", findings=file.findings if file else ())
            )
    return Listing(tuple(entries), snapshot.broken)


def entry(project: Project, name: str, *, by: Actor) -> Entry:
    """Return one capability by its id or an alias. Raise NotFound, with a similar id."""
    entries = {each.id: each for each in reversed(listing(project, by=by).entries)}
    aliases = {alias: each.id for each in entries.values() if each.capability for alias in each.capability.aliases}
    found = entries.get(name) or entries.get(aliases.get(name, ""))
    if found is None:
        near = nearest_of(sorted(entries), cutoff=0.5)(name)
        hint = f" Did you mean {near}?" if near else ""
        raise NotFound(f"There is no capability {name[:128]} in this project.{hint}")
    return found


def _of_owner(row: ProjectCapability, by_id: Mapping[str, Capability], about: Mapping[str, Iterable[Finding]]) -> Entry:
    findings = tuple(about.get(row.name, ()))
    usable = None if errors(findings) else by_id.get(row.name)
    return Entry(row.name, PROJECT, usable, row=row, findings=findings)
