"""Addresses and helpers for the tests of the routing pages."""

import html
import re
from typing import Any

from registry.core.routing.golden import Case
from registry.models import GoldenCase, Project
from registry.services.permissions import Actor
from registry.services.routing import golden_set

BASE = "/projects/demo/routing/"
QUESTIONS, RESULTS, LOG, SETTINGS = (f"{BASE}{tab}/" for tab in ("questions", "results", "log", "settings"))
HTMX = {"HX-Request": "true"}
REASON = "Parcels moved to another team."
HOSTILE = '<script>alert(1)</script> {{ 7|add:7 }} " onload="x'


def text(response: Any, status: int = 200) -> str:
    assert response.status_code == status, response.status_code
    return str(response.content.decode())


def words(response: Any) -> str:
    """Return the words of a page, without tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def ask(project: Project, query: str, *expected: str, by: Actor, **more: Any) -> GoldenCase:
    """Add a test question."""
    return golden_set.add(project, [Case(query, expected, **more)], by=by).rows[0]
