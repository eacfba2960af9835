"""Outbound HTTP with the hosts that the settings allow."""

from django.conf import settings

from registry.remote import outbound_http
from registry.remote.outbound_http import OutboundRequest, OutboundResponse


def send(request: OutboundRequest) -> OutboundResponse:
    return outbound_http.send(request, allowed=allowed_hosts())


def check(text: str) -> str:
    return outbound_http.check(text, allowed=allowed_hosts())


def allowed_hosts() -> frozenset[str]:
    """Return SKILLS_FETCH_ALLOW_HOSTS: hosts that may be in a private network or without TLS."""
    return frozenset(name.lower() for name in settings.SKILLS_FETCH_ALLOW_HOSTS)
