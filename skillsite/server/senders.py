"""Senders of large bodies. Only people and programs that the site knows may send them."""

from importlib import import_module

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db import close_old_connections
from django.http import parse_cookie
from django.utils import timezone

from registry.core.errors import SkillsiteError
from registry.services.agents import tokens
from skillsite.server.protocol import Headers

_BEARER = "bearer "


def is_known(headers: Headers) -> bool:
    """Return whether the headers contain a valid token or the cookie of a signed-in person.

    This only decides whether a large body is received. The view checks everything again.
    """
    close_old_connections()
    try:
        return _has_token(headers.get("authorization", "")) or _has_session(headers.get("cookie", ""))
    finally:
        close_old_connections()


def _has_token(authorization: str) -> bool:
    if not authorization.lower().startswith(_BEARER):
        return False
    try:
        tokens.authenticate(authorization[len(_BEARER) :].strip(), now=timezone.now())
    except SkillsiteError:
        return False
    return True


def _has_session(cookie: str) -> bool:
    key = parse_cookie(cookie).get(settings.SESSION_COOKIE_NAME)
    return bool(key) and SESSION_KEY in import_module(settings.SESSION_ENGINE).SessionStore(key)
