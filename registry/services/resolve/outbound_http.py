"""Requests to addresses that people gave the site, with the hosts that its operator allowed."""

from django.conf import settings

from registry.remote import outbound_http
from registry.remote.outbound_http import Answer, Asked


def send(asked: Asked) -> Answer:
    return outbound_http.send(asked, allowed=allowed_hosts())


def check(text: str) -> str:
    return outbound_http.check(text, allowed=allowed_hosts())


def allowed_hosts() -> frozenset[str]:
    """SKILLS_FETCH_ALLOW_HOSTS: may be anywhere, and may be spoken to without TLS."""
    return frozenset(name.lower() for name in settings.SKILLS_FETCH_ALLOW_HOSTS)
