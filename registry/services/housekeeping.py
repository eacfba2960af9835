"""What the worker does each minute: wakes up what is overdue, and throws away what has served its time."""

from datetime import datetime, timedelta

from django.contrib.sessions.models import Session

from registry.models import BrowserSession, SignInLink
from registry.services.drafts import uploads
from registry.services.notifications import worker
from registry.services.sources import source_jobs

_KEPT_LINKS_FOR = timedelta(days=1)


def sweep(*, now: datetime) -> dict[str, int]:
    """Counts what it removed. Running it twice, or on two workers at once, does no harm."""
    worker.wake_overdue(now=now)
    source_jobs.wake_overdue(now=now)
    gone = Session.objects.filter(expire_date__lt=now).values("session_key")
    return {
        "browser sessions": BrowserSession.objects.filter(session_key__in=gone).delete()[0],
        "sessions": Session.objects.filter(expire_date__lt=now).delete()[0],
        "sign-in links": SignInLink.objects.filter(expires_at__lt=now - _KEPT_LINKS_FOR).delete()[0],
        "uploads": uploads.sweep(now=now),
        **worker.clean(now=now),
        **source_jobs.clean(now=now),
    }
