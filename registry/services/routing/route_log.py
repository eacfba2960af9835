"""The log of questions: what agents asked, so that a question without the right answer becomes a test question.

Credentials and personal data are removed before a question is stored. Agents never read the log.
"""

import logging
import random
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import QuerySet

from registry.core import roles
from registry.core.errors import Forbidden, NotFound
from registry.core.routing.request import readable
from registry.core.scan.redaction import redact
from registry.models import Project, RouteLog, RoutingSettings
from registry.services import audit
from registry.services.permissions import Actor, require
from registry.services.routing import routing_settings
from registry.services.routing.routing import Routed

log = logging.getLogger(__name__)

QUERY_CHARS = 2_000  # of a question that is kept
MATCHES = 5  # that are kept with it
MOST = 10_000  # questions of a project; older ones are deleted


def record(project_id: int, revision: int, query: str, routed: Routed, *, caller: Actor, now: datetime) -> None:
    """Log a question after it was answered, if the project wants it. A failure is logged and has no other effect."""
    try:
        settings = routing_settings.of(project_id, revision)
        wanted = settings.log_days > 0 and query.strip() and random.random() < settings.log_share  # noqa: S311
        if wanted:
            _store(project_id, query, routed, caller, now)
    except Exception:
        log.exception("A question could not be logged.")  # without the question, which is not redacted here


def _store(project_id: int, query: str, routed: Routed, caller: Actor, now: datetime) -> None:
    RouteLog.objects.create(
        project_id=project_id,
        at=now,
        agent_id=caller.agent_id,
        caller=caller.name,
        query=redact(readable(query))[:QUERY_CHARS].strip(),
        matches=[[skill.candidate.name, round(skill.confidence, 4)] for skill in routed.ranking[:MATCHES]],
        found=bool(routed.matches),
        threshold=routed.threshold,
    )


def entries(project: Project, *, by: Actor, found: bool | None = None) -> QuerySet[RouteLog]:
    """Return the logged questions, newest first. `found` selects those with an answer, or those without."""
    _require_person(by, project)
    rows = RouteLog.objects.filter(project=project).select_related("agent").order_by("-at", "-pk")
    return rows if found is None else rows.filter(found=found)


def find(project: Project, entry_id: int, *, by: Actor) -> RouteLog:
    entry = entries(project, by=by).filter(pk=entry_id).first()
    if entry is None:
        raise NotFound("This question is no longer in the log.")
    return entry


def delete(project: Project, entry_ids: Sequence[int] | None = None, *, by: Actor) -> int:
    """Delete these questions, or all of them. Return how many there were."""
    _require_person(by, project)
    with audit.change(project, "questions.deleted", by=by, target=project.slug) as change:
        rows = RouteLog.objects.filter(project=project)
        if entry_ids is not None:
            rows = rows.filter(pk__in=list(entry_ids))
        deleted = rows.delete()[0]
        change.data["questions"] = deleted
        if not deleted:
            change.cancel()
    return deleted


def sweep(now: datetime) -> int:
    """Delete what projects do not keep any longer, or have switched off. Return the number of questions."""
    deleted = RouteLog.objects.exclude(project__routing__log_days__gt=0).delete()[0]
    for project_id, days in RoutingSettings.objects.filter(log_days__gt=0).values_list("project_id", "log_days"):
        rows = RouteLog.objects.filter(project_id=project_id)
        deleted += rows.filter(at__lt=now - timedelta(days=days)).delete()[0]
        if oldest := rows.order_by("-at", "-pk").values_list("at", flat=True)[MOST - 1 : MOST].first():
            deleted += rows.filter(at__lt=oldest).delete()[0]
    return deleted


def _require_person(by: Actor, project: Project) -> None:
    if by.agent_id is not None and by.project_id == project.pk:
        raise Forbidden("Agents cannot see or change the log of questions. Use the token of a person.")
    require(by, roles.WRITE, project)
