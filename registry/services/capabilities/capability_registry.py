"""The registry of capabilities: the built-in ones, and those that operators and owners register."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.conf import settings

from registry.core.bundle import Bundle
from registry.core.findings import Finding
from registry.core.limits import Limits
from registry.core.workflows import capability_linking, capability_yaml
from registry.core.workflows.builtins.catalogue import BUILTINS
from registry.core.workflows.capability import Capability
from registry.core.workflows.capability_scope import OWNER
from registry.core.workflows.capability_set import CapabilitySet
from registry.core.workflows.capability_yaml import Parsed
from registry.core.workflows.plan import FILE
from registry.lib.lru import LruCache
from registry.models import ProjectCapability
from registry.services.capabilities import capability_files

# Sources of capabilities.
BUILT_IN, OPERATOR, PROJECT = "built-in", "operator", "project"


@dataclass(frozen=True, slots=True)
class ProjectSet:
    """The capabilities of a project, and the findings about those of its owners by their ids."""

    capabilities: CapabilitySet
    findings: Mapping[str, tuple[Finding, ...]]


_LIVE_SECONDS = 1.0

# By everything that a set follows from: the project, the definitions of the operator, the settings, and the rows.
_sets = LruCache[tuple[object, ...], ProjectSet](500)
_files = LruCache[tuple[str, Limits], Parsed](1_000)


def of(project_id: int) -> CapabilitySet:
    """Return the capabilities that workflows of a project can use. This is one small query."""
    return of_owners(project_id).capabilities


class LiveCapabilities:
    """The capabilities of a project for a long time. Only `refresh` asks the database, at most once a second."""

    def __init__(self, project_id: int, now: float) -> None:
        self._project_id, self._read_at, self._set = project_id, now, of(project_id)

    def refresh(self, now: float) -> bool:
        """Read the definitions again, and return whether that was due. A change of one applies to the next call."""
        is_due = now - self._read_at >= _LIVE_SECONDS
        if is_due:
            self._read_at, self._set = now, of(self._project_id)
        return is_due

    def get(self, name: str) -> Capability:
        return self._set.get(name)


def of_owners(project_id: int) -> ProjectSet:
    """Return the capabilities of a project with the findings about those that its owners registered."""
    operators = capability_files.snapshot().capabilities
    rows = tuple(ProjectCapability.objects.filter(project=project_id).order_by("pk").values_list("name", "digest"))
    if not rows:
        return ProjectSet(operators, {})
    key = (project_id, operators.fingerprint, capability_files.site(), settings.LIMITS, rows)
    known = _sets.get(key)
    if known is None:
        stored = list(ProjectCapability.objects.filter(project=project_id).order_by("pk"))
        known = linked(operators, {row.name: row.text for row in stored}, project_id)
        if tuple((row.name, row.digest) for row in stored) == rows:
            _sets.put(key, known)
    return known


def source_of(capability_id: str) -> str:
    """Return who registered a capability of a project. Nobody replaces a built-in one or one of the operator."""
    if capability_id in BUILTINS:
        return BUILT_IN
    return OPERATOR if capability_id in capability_files.snapshot().capabilities.by_id else PROJECT


def linked(operators: CapabilitySet, texts: Mapping[str, str], project_id: int) -> ProjectSet:
    """Return a set with the capabilities of owners that have no errors. `texts` are their files by their ids."""
    parsed = {name: _parsed(text) for name, text in texts.items()}
    drafts = {name: each.draft for name, each in parsed.items() if each.draft is not None}
    results = capability_linking.link(
        list(drafts.values()), operators.by_id, capability_files.site(), author=OWNER
    )  # fmt: skip
    about = {name: each.findings for name, each in parsed.items()}
    for name, each in zip(drafts, results, strict=True):
        about[name] = (*about[name], *each.findings)
    good = [replace(each.capability, project=project_id) for each in results if each.capability is not None]
    return ProjectSet(CapabilitySet([*operators.by_id.values(), *good]) if good else operators, about)


def _parsed(text: str) -> Parsed:
    """Return a parsed file. It is kept, so that a change of one capability reads only that one again."""
    key = (text, settings.LIMITS)
    known = _files.get(key)
    if known is None:
        known = capability_yaml.parse(text, limits=settings.LIMITS)
        _files.put(key, known)
    return known


def for_lint(project_id: int, bundle: Bundle) -> Mapping[str, Capability] | None:
    """Return the capabilities for the check of a bundle, None if it has no workflow."""
    known = for_workflows(project_id, bundle)
    return known.by_id if known else None


def for_workflows(project_id: int, *bundles: Bundle | None) -> CapabilitySet | None:
    """Return the capabilities of a project, None if no bundle has a workflow that could use them."""
    return of(project_id) if any(bundle is not None and FILE in bundle for bundle in bundles) else None
