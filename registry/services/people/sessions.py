"""Browser sessions of a person: list them and end them. Ending one deletes the Django session."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.sessions.models import Session

from registry.core.errors import NotFound
from registry.models import BrowserSession, User
from registry.services import audit, counters
from registry.services.permissions import visitor

SEEN_EVERY = 5 * 60


@dataclass(frozen=True, slots=True)
class Browser:
    """The browser behind a request, as far as the request tells."""

    session_key: str
    agent: str
    address: str


def begin(user: User, browser: Browser, *, now: datetime) -> None:
    """Record a new session and drop those that ended. The sign-in itself is in the audit log."""
    active = Session.objects.filter(expire_date__gt=now).values("session_key")
    BrowserSession.objects.filter(user=user).exclude(session_key__in=active).delete()
    _store(user, browser, now=now)


def touch(user: User, browser: Browser, *, now: datetime) -> None:
    """Update the time of the last visit, at most once in five minutes and without an audit event."""
    if browser.session_key and counters.first(f"seen:{browser.session_key}", seconds=SEEN_EVERY):
        _store(user, browser, now=now)


def _store(user: User, browser: Browser, *, now: datetime) -> None:
    BrowserSession.objects.bulk_create(
        [
            BrowserSession(
                user=user, session_key=browser.session_key, browser=browser.agent[:200],
                address=browser.address[:45], created_at=now, last_seen_at=now,
            )
        ],
        update_conflicts=True, unique_fields=["session_key"],
        update_fields=["user", "browser", "address", "last_seen_at"],
    )  # fmt: skip


def list_active(user: User, *, now: datetime) -> list[BrowserSession]:
    """Return the sessions that have not expired, last seen first."""
    active = Session.objects.filter(expire_date__gt=now).values("session_key")
    return list(BrowserSession.objects.filter(user=user, session_key__in=active).order_by("-last_seen_at", "-pk"))


def end(user: User, session_id: int) -> None:
    with audit.change(None, "session.ended", by=visitor(user), target=user.username) as change:
        session = BrowserSession.objects.filter(user=user, pk=session_id).first()
        if session is None:
            raise NotFound("There is no such session. It may have ended already.")
        Session.objects.filter(session_key=session.session_key).delete()
        session.delete()
        change.data["address"] = session.address


def end_others(user: User, *, keep: str) -> int:
    """Sign the person out of every other session. Return how many ended."""
    with audit.change(None, "sessions.ended", by=visitor(user), target=user.username) as change:
        others = BrowserSession.objects.filter(user=user).exclude(session_key=keep)
        ended, _ = Session.objects.filter(session_key__in=others.values("session_key")).delete()
        others.delete()
        if not ended:
            change.cancel()
        change.data["ended"] = ended
    return ended
