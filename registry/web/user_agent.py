"""The browser and address of a request, in words for people."""

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
    header = request.META.get("HTTP_USER_AGENT", "")
    return Browser(request.session.session_key or "", describe(header), address(request))


def describe(user_agent: str) -> str:
    """Return "Firefox on Linux", or the start of the header if it names no known browser or system."""
    program = next((name for sign, name in _BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in _SYSTEMS if re.search(sign, user_agent)), "")
    return " on ".join(filter(None, [program, system])) or user_agent[:60]
