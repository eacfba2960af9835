"""Addresses of the pages that notifications, emails and webhooks link to.

`registry.web.urls` is the only place that spells out an address; this module asks for it by name.
"""

from django.conf import settings
from django.urls import reverse

from registry.core.notifications.events import QUESTION_EXPIRED, RUN_WAITING, YANKED, Event
from registry.models import Notification

_ASKING = (RUN_WAITING, QUESTION_EXPIRED)


def absolute(path: str) -> str:
    return f"{settings.PUBLIC_URL}{path}"


def event_path(slug: str, event: Event) -> str:
    return _path(
        slug,
        event.type,
        proposal=event.proposal.id if event.proposal else None,
        run=event.run.id if event.run else None,
        skill=event.skill,
        version=event.version.version if event.version else "",
    )


def notification_path(notification: Notification) -> str:
    return _path(
        notification.project.slug,
        notification.event,
        proposal=notification.proposal_id,
        run=notification.run_id,
        skill=notification.skill,
        version=notification.version,
    )


def _path(slug: str, event_type: str, *, proposal: int | None, run: int | None, skill: str, version: str) -> str:
    """Return the path of the page about the proposal, the run, the version or the skill."""
    if proposal is not None:
        return reverse("proposal", args=[slug, proposal])
    if run is not None:
        return reverse("run-questions", args=[slug, run]) if event_type in _ASKING else run_path(slug, run)
    if not version:
        return reverse("skill", args=[slug, skill])
    if event_type == YANKED:  # a withdrawn version has no page, only a row in the history
        return reverse("skill-versions", args=[slug, skill])
    return reverse("version", args=[slug, skill, version])


def run_path(slug: str, run: int) -> str:
    return reverse("run", args=[slug, run])


def run_question_path(slug: str, run: int, question: int) -> str:
    return reverse("run-question", args=[slug, run, question])


def run_api_path(slug: str, run: int) -> str:
    """Return the path of a run for programs."""
    return reverse("api-run", args=[slug, run])


def webhook_path(slug: str, webhook: int) -> str:
    return reverse("webhook", args=[slug, webhook])


def audit_path(slug: str) -> str:
    return reverse("audit", args=[slug])


def account_path() -> str:
    return reverse("account")


def confirm_address_path(secret: str) -> str:
    return reverse("account-mail-confirm", args=[secret])
