"""Addresses of the pages that notifications, emails and webhooks lead to.

`registry.web.urls` is the only place that spells out an address; this module asks for it by name.
"""

from django.conf import settings
from django.urls import reverse

from registry.core.notifications.events import YANKED, News
from registry.models import Notice


def absolute(path: str) -> str:
    return f"{settings.PUBLIC_URL}{path}"


def event_path(slug: str, event: str, *, proposal: int | None, skill: str, version: str) -> str:
    """Return the path of the page about the proposal, version or skill of an event."""
    if proposal is not None:
        return reverse("proposal", args=[slug, proposal])
    if not version:
        return reverse("skill", args=[slug, skill])
    if event == YANKED:  # a yanked version has no page, only an entry in the history
        return reverse("skill-versions", args=[slug, skill])
    return reverse("version", args=[slug, skill, version])


def news_path(slug: str, news: News) -> str:
    version = news.version.version if news.version else ""
    return event_path(
        slug, news.event, proposal=news.proposal.id if news.proposal else None, skill=news.skill, version=version
    )


def notice_path(notice: Notice) -> str:
    return event_path(
        notice.project.slug, notice.event, proposal=notice.proposal_id, skill=notice.skill, version=notice.version
    )


def webhook_path(slug: str, webhook: int) -> str:
    return reverse("webhook", args=[slug, webhook])


def account_path() -> str:
    return reverse("account")


def confirm_address_path(secret: str) -> str:
    return reverse("account-mail-confirm", args=[secret])
