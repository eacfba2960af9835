"""Which browser a request comes from, in words a person recognises."""

import re

from django.http import HttpRequest

from registry.services import client_address
from registry.services.people.sessions import Browser

_BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrome", "Chrome"), ("Safari", "Safari"))
_SYSTEMS = (
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone|iPad", "iOS"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def address(request: HttpRequest) -> str:
    return client_address.address(request.META)


def browser(request: HttpRequest) -> Browser:
    return Browser(request.session.session_key or "", named(request.META.get("HTTP_USER_AGENT", "")), address(request))


def named(user_agent: str) -> str:
    """ "Firefox on Linux"; the first words of the header where it names neither."""
    program = next((name for sign, name in _BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in _SYSTEMS if re.search(sign, user_agent)), "")
    return " on ".join(filter(None, [program, system])) or user_agent[:60]
