"""Where a person is signed in: seen, listed, ended. Ending one deletes the session itself."""

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
    """Who looks, as far as a request tells."""

    session_key: str
    agent: str
    address: str


def begin(user: User, browser: Browser, *, now: datetime) -> None:
    """Remembers a sign-in, and forgets those that have ended. The sign-in itself is what the audit log has."""
    kept = Session.objects.filter(expire_date__gt=now).values("session_key")
    BrowserSession.objects.filter(user=user).exclude(session_key__in=kept).delete()
    _remember(user, browser, now=now)


def seen(user: User, browser: Browser, *, now: datetime) -> None:
    """Moves the time of the last visit, once in a few minutes. No change an audit would note."""
    if browser.session_key and counters.first(f"seen:{browser.session_key}", seconds=SEEN_EVERY):
        _remember(user, browser, now=now)


def _remember(user: User, browser: Browser, *, now: datetime) -> None:
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


def of(user: User, *, now: datetime) -> list[BrowserSession]:
    """The sessions that still hold, the latest seen first."""
    kept = Session.objects.filter(expire_date__gt=now).values("session_key")
    return list(BrowserSession.objects.filter(user=user, session_key__in=kept).order_by("-last_seen_at", "-pk"))


def end(user: User, session_id: int) -> None:
    with audit.change(None, "session.ended", by=visitor(user), target=user.username) as change:
        found = BrowserSession.objects.filter(user=user, pk=session_id).first()
        if found is None:
            raise NotFound("There is no such session. It may have ended already.")
        Session.objects.filter(session_key=found.session_key).delete()
        found.delete()
        change.data["address"] = found.address


def end_others(user: User, *, keep: str) -> int:
    """Signs the person out everywhere but here; says how many sessions ended."""
    with audit.change(None, "sessions.ended", by=visitor(user), target=user.username) as change:
        others = BrowserSession.objects.filter(user=user).exclude(session_key=keep)
        ended, _ = Session.objects.filter(session_key__in=others.values("session_key")).delete()
        others.delete()
        if not ended:
            change.cancel()
        change.data["ended"] = ended
    return ended
