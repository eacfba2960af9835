"""The sweep that the worker runs each minute: retry overdue jobs, and delete expired rows."""

from datetime import datetime, timedelta

from django.contrib.sessions.models import Session

from registry.models import BrowserSession, SignInLink
from registry.services.drafts import uploads
from registry.services.notifications import worker
from registry.services.sources import source_jobs

_KEEP_LINKS_FOR = timedelta(days=1)


def sweep(*, now: datetime) -> dict[str, int]:
    """Return how many rows of each kind were deleted. Two workers may run it at the same time."""
    worker.wake_overdue(now=now)
    source_jobs.wake_overdue(now=now)
    expired = Session.objects.filter(expire_date__lt=now).values("session_key")
    return {
        "browser sessions": BrowserSession.objects.filter(session_key__in=expired).delete()[0],
        "sessions": Session.objects.filter(expire_date__lt=now).delete()[0],
        "sign-in links": SignInLink.objects.filter(expires_at__lt=now - _KEEP_LINKS_FOR).delete()[0],
        "uploads": uploads.sweep(now=now),
        **worker.clean(now=now),
        **source_jobs.clean(now=now),
    }
