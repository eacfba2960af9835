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


def find(headers: Headers) -> str:
    """Return the number of the signed-in person, or of the person who made the token. It is empty for a stranger.

    This only decides whether a large body is received. The view checks everything again.
    """
    close_old_connections()
    try:
        return _maker_of_token(headers.get("authorization", "")) or _person(headers.get("cookie", ""))
    finally:
        close_old_connections()


def _maker_of_token(authorization: str) -> str:
    if not authorization.lower().startswith(_BEARER):
        return ""
    try:
        caller = tokens.authenticate(authorization[len(_BEARER) :].strip(), now=timezone.now())
    except SkillsiteError:
        return ""
    return str(caller.actor.maker_id or f"token {caller.token_id}")


def _person(cookie: str) -> str:
    key = parse_cookie(cookie).get(settings.SESSION_COOKIE_NAME)
    return str(import_module(settings.SESSION_ENGINE).SessionStore(key).get(SESSION_KEY, "")) if key else ""
