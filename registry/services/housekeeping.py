"""The sweep that the worker runs each minute: retry overdue jobs, and delete expired rows."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.sessions.models import Session

from registry.models import BrowserSession, SignInLink
from registry.services import counters
from registry.services.audit_log import heads
from registry.services.catalog import built_in_headers
from registry.services.drafts import uploads
from registry.services.notifications import audit_head_webhooks, worker
from registry.services.resolve import resolver
from registry.services.routing import index_store, route_log
from registry.services.skills import scan_jobs
from registry.services.sources import source_jobs
from registry.services.workflows import run_sweep

log = logging.getLogger(__name__)

_KEEP_LINKS_FOR = timedelta(days=1)
_CACHE_SWEEP_SECONDS = 3_600  # it reads the record of every cached skill


def sweep(*, now: datetime) -> dict[str, int]:
    """Return how many rows or files of each kind were deleted. Two workers may run it at the same time."""
    worker.wake_overdue(now=now)
    source_jobs.wake_overdue(now=now)
    scan_jobs.wake_overdue(now=now)
    run_sweep.wake_overdue(now=now)
    _publish_audit_heads(now=now)
    expired = Session.objects.filter(expire_date__lt=now).values("session_key")
    return {
        "browser sessions": BrowserSession.objects.filter(session_key__in=expired).delete()[0],
        "sessions": Session.objects.filter(expire_date__lt=now).delete()[0],
        "sign-in links": SignInLink.objects.filter(expires_at__lt=now - _KEEP_LINKS_FOR).delete()[0],
        "uploads": uploads.sweep(now=now),
        **worker.clean(now=now),
        **source_jobs.clean(now=now),
        **scan_jobs.clean(now=now),
        "runs": run_sweep.delete_old(now=now),
        "logged questions": route_log.sweep(now),
        "cached skills": _sweep_cache(),
        "analysed skills": index_store.sweep(),
        "headers of built-in skills": built_in_headers.sweep(),
    }


def _publish_audit_heads(*, now: datetime) -> None:
    audit_head_webhooks.announce(now=now)
    try:
        heads.record(settings.AUDIT_HEADS_FILE, now=now)
    except OSError:
        log.exception("The heads of the audit log could not be written to %s.", settings.AUDIT_HEADS_FILE)


def _sweep_cache() -> int:
    if not counters.first("resolve:sweep", seconds=_CACHE_SWEEP_SECONDS):
        return 0
    try:
        return resolver.sweep()
    except OSError:
        log.exception("The cache of resolved skills in %s could not be cleaned.", settings.PERSISTENT_VOLUME_STORAGE)
        return 0
