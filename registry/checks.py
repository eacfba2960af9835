"""System checks: misconfiguration explained before it hurts. Ids are stable; `docs/operating.md` lists them."""

import importlib.util
import os
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, register

_KEY_CHARS, _KEY_VARIETY = 50, 5  # as Django's own check for production has it


@register()
def directories(**kwargs: Any) -> list[CheckMessage]:
    unreadable = [root for root in settings.AGENT_SKILLS_DIRS if not os.access(root, os.R_OK | os.X_OK)]
    return [
        checks.Warning(
            f"The skills directory {root} cannot be read.",
            hint="Correct AGENT_SKILLS_DIRS, or make the directory readable. Its skills are left out until then.",
            id="skillsite.W001",
        )
        for root in unreadable
    ]


@register()
def addresses(**kwargs: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    address = urlsplit(settings.PUBLIC_URL)
    if address.scheme not in ("http", "https") or not address.netloc:
        hint = "Give the address people type, such as https://skills.example.org."
        found.append(Error(f"PUBLIC_URL is {settings.PUBLIC_URL!r}.", hint=hint, id="skillsite.E001"))
    if settings.DEBUG and set(settings.ALLOWED_HOSTS) - {"localhost", "127.0.0.1", "[::1]"}:
        hint = "Unset DEBUG: its error pages show settings and code to anybody."
        found.append(checks.Warning("DEBUG is on and other hosts are allowed.", hint=hint, id="skillsite.W002"))
    if "*" in settings.ALLOWED_HOSTS:
        hint = "Name the hosts. A forged Host header makes the site give out another address as its own."
        found.append(checks.Warning("ALLOWED_HOSTS allows every host.", hint=hint, id="skillsite.W003"))
    return found


@register()
def secrets(**kwargs: Any) -> list[CheckMessage]:
    if len(settings.SECRET_KEY) >= _KEY_CHARS and len(set(settings.SECRET_KEY)) >= _KEY_VARIETY:
        return []
    hint = "Sessions are signed with it. Take 50 or more random characters."
    return [checks.Warning("SECRET_KEY can be guessed.", hint=hint, id="skillsite.W004")]


@register()
def limits(**kwargs: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    wanted = settings.LIMITS
    if wanted.file_bytes > wanted.expanded_bytes:
        hint = "Lower LIMIT_FILE_BYTES or raise LIMIT_EXPANDED_BYTES."
        found.append(Error("One file may be larger than a whole bundle.", hint=hint, id="skillsite.E002"))
    if wanted.soft_tokens > wanted.loud_tokens:
        hint = "LIMIT_SOFT_TOKENS must not be above LIMIT_LOUD_TOKENS."
        found.append(Error("The first token advice is above the second.", hint=hint, id="skillsite.E003"))
    return found


@register()
def extras(**kwargs: Any) -> list[CheckMessage]:
    """Packages that only some installations need."""
    found: list[CheckMessage] = []
    if settings.REDIS_URL and importlib.util.find_spec("redis") is None:
        hint = "Install it: pip install --requirement requirements/deploy.txt."
        found.append(Error("REDIS_URL is set and the package redis is missing.", hint=hint, id="skillsite.E004"))
    if settings.REDIS_URL and not settings.REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
        hint = "Write redis://host:6379/0. Else no request would be counted, and none limited."
        found.append(Error("REDIS_URL is no address of a Redis.", hint=hint, id="skillsite.E006"))
    if settings.S3_BUCKET and importlib.util.find_spec("storages") is None:
        hint = "Install it: pip install --requirement requirements/deploy.txt."
        found.append(Error("S3_BUCKET is set and django-storages is missing.", hint=hint, id="skillsite.E005"))
    return found
