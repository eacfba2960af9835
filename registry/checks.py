"""System checks of the configuration. Their ids are stable, and `docs/operating.md` lists them."""

import importlib.util
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, register
from django.db import DatabaseError

from registry.core.findings import errors
from registry.models import Project
from registry.services.capabilities import capability_files

_KEY_CHARS, _KEY_VARIETY = 50, 5  # the values of Django's own check security.W009


@register()
def directories(**kwargs: Any) -> list[CheckMessage]:
    unreadable = [root for root in settings.AGENT_SKILLS_DIRS if not os.access(root, os.R_OK | os.X_OK)]
    return [
        checks.Warning(
            f"Cannot read the skills directory {root}.",
            hint="Correct AGENT_SKILLS_DIRS, or make the directory readable. Agents do not get its skills.",
            id="skillsite.W001",
        )
        for root in unreadable
    ]


@register()
def capabilities(**kwargs: Any) -> list[CheckMessage]:
    found = [problem for file in capability_files.snapshot().broken for problem in errors(file.findings)]
    return [
        checks.Warning(f"{problem.place}: {problem.message}", hint=problem.fix, id="skillsite.W006")
        for problem in found
    ]


@register()
def addresses(**kwargs: Any) -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    address = urlsplit(settings.PUBLIC_URL)
    if address.scheme not in ("http", "https") or not address.netloc:
        hint = "Set it to the URL that people open, such as https://skills.example.org."
        problems.append(
            Error(f"PUBLIC_URL is {settings.PUBLIC_URL!r}, which is not a URL.", hint=hint, id="skillsite.E001")
        )
    if settings.DEBUG:
        hint = "Unset DEBUG. Its error pages show settings and code to everybody who can open the site."
        problems.append(checks.Warning("DEBUG is on.", hint=hint, id="skillsite.W002"))
    if "*" in settings.ALLOWED_HOSTS:
        hint = "List the host names. With a forged Host header, the site would create links to another host."
        problems.append(checks.Warning("ALLOWED_HOSTS allows every host.", hint=hint, id="skillsite.W003"))
    return problems


@register(checks.Tags.database)
def public_root(databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Check that the projects at the root of the site exist and are public. Runs with --database only."""
    if not databases or not settings.PUBLIC_ROOT_PROJECTS:
        return []
    named = settings.PUBLIC_ROOT_PROJECTS
    try:
        found = {project.slug: project for project in Project.objects.filter(slug__in=named)}
    except DatabaseError:  # the tables do not exist before the first migration
        return []
    faults = {slug: _root_fault(found.get(slug)) for slug in named}
    return [
        checks.Warning(
            f"PUBLIC_ROOT_PROJECTS lists {slug}, {fault}.",
            hint="Correct PUBLIC_ROOT_PROJECTS. The root of the site does not list this project.",
            id="skillsite.W005",
        )
        for slug, fault in faults.items()
        if fault
    ]


def _root_fault(project: Project | None) -> str:
    if project is None:
        return "but no project has this address"
    if project.archived_at is not None:
        return "but this project is archived"
    return "" if project.public else "but this project is not public"


@register()
def secrets(**kwargs: Any) -> list[CheckMessage]:
    if len(settings.SECRET_KEY) >= _KEY_CHARS and len(set(settings.SECRET_KEY)) >= _KEY_VARIETY:
        return []
    hint = "It signs sessions. Use 50 or more random characters."
    return [checks.Warning("SECRET_KEY is easy to guess.", hint=hint, id="skillsite.W004")]


@register()
def limits(**kwargs: Any) -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    configured = settings.LIMITS
    if configured.file_bytes > configured.expanded_bytes:
        hint = "Lower LIMIT_FILE_BYTES or raise LIMIT_EXPANDED_BYTES."
        problems.append(Error("LIMIT_FILE_BYTES is above LIMIT_EXPANDED_BYTES.", hint=hint, id="skillsite.E002"))
    if configured.soft_tokens > configured.loud_tokens:
        hint = "Lower LIMIT_SOFT_TOKENS or raise LIMIT_LOUD_TOKENS."
        problems.append(Error("LIMIT_SOFT_TOKENS is above LIMIT_LOUD_TOKENS.", hint=hint, id="skillsite.E003"))
    return problems


@register()
def extras(**kwargs: Any) -> list[CheckMessage]:
    """Check for the packages that only some settings need."""
    problems: list[CheckMessage] = []
    if settings.REDIS_URL and importlib.util.find_spec("redis") is None:
        hint = "Run pip install --requirement requirements/deploy.txt."
        problems.append(
            Error("REDIS_URL is set, but the package redis is not installed.", hint=hint, id="skillsite.E004")
        )
    if settings.REDIS_URL and not settings.REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
        hint = "Set it to a URL such as redis://host:6379/0. With a wrong URL, there are no rate limits."
        problems.append(Error("REDIS_URL is not the URL of a Redis server.", hint=hint, id="skillsite.E006"))
    if settings.S3_BUCKET and importlib.util.find_spec("storages") is None:
        hint = "Run pip install --requirement requirements/deploy.txt."
        problems.append(
            Error("S3_BUCKET is set, but the package django-storages is not installed.", hint=hint, id="skillsite.E005")
        )
    return problems
