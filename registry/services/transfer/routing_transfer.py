"""The golden set and the routing settings in the export of a project.

Only people who may change skills export them: agents never see test questions. The learned threshold and calibration
are not exported, because the next evaluation learns them again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from registry.core import roles
from registry.core.archive.export_record import GOLDEN_SET, ROUTING
from registry.core.errors import InvalidArchive
from registry.core.routing import golden_files
from registry.core.routing.golden import query_digest
from registry.models import Project, RoutingSettings
from registry.services.permissions import Actor
from registry.services.routing import golden_set, routing_settings
from registry.services.transfer import export_files


@dataclass(frozen=True, slots=True)
class ImportedRouting:
    """The numbers of test questions that an import added and replaced, and the settings that it changed."""

    added: int = 0
    replaced: int = 0
    settings: tuple[str, ...] = ()


def exported(project: Project, *, by: Actor) -> dict[str, Any]:
    """Return the parts of the record that belong to routing. A part without content is left out."""
    if by.agent_id is not None or not by.may(roles.WRITE):
        return {}
    cases = [golden_files.as_entry(case) for case in golden_set.all_of(project.pk)]
    row, defaults = routing_settings.row_of(project.pk), RoutingSettings()
    values = {name: getattr(row, name) for name in sorted(routing_settings.CHANGEABLE)}
    changed = {name: value for name, value in values.items() if value != getattr(defaults, name)}
    return {key: value for key, value in ((GOLDEN_SET, cases), (ROUTING, changed)) if value}


def import_routing(project: Project, path: Path, *, dry_run: bool = False, by: Actor) -> ImportedRouting | None:
    """Import the golden set and the settings of an export, or return None if it has none.

    Test questions are added to those of the project. A question that the project has is replaced.
    """
    parts = export_files.parts(path)
    if not parts:
        return None
    cases, values = parts.get(GOLDEN_SET, []), parts.get(ROUTING, {})
    if not isinstance(cases, list) or not isinstance(values, Mapping):
        raise InvalidArchive("The test questions or the routing settings in the record of the export cannot be read.")
    checked = golden_files.read_entries(cases, [f"Test question {number}" for number in range(1, len(cases) + 1)])
    settings = routing_settings.check({str(name): value for name, value in values.items()})
    if dry_run:
        known = {query_digest(case.query): case for case in golden_set.all_of(project.pk)}
        before = [known.get(query_digest(case.query)) for case in checked]
        replaced = sum(old is not None and old != new for old, new in zip(before, checked, strict=True))
        return ImportedRouting(before.count(None), replaced, tuple(settings))
    with transaction.atomic():
        added = golden_set.add(project, checked, by=by) if checked else None
        if settings:
            routing_settings.change(project, by=by, **settings)
    return ImportedRouting(added.added if added else 0, added.replaced if added else 0, tuple(settings))
