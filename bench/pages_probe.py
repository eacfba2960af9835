"""Processor time and queries of every page. bench/pages.py runs this in a Django shell."""

import json
import statistics
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from bench import bulk_skills
from registry.core import roles
from registry.models import Project, Usage
from tests.browser import world
from tests.browser.screens import SCREENS
from tests.browser.site import Site

ROUNDS = 9
DAYS = 5


class InProcessSite(Site):
    """A site in this process."""

    def __init__(self) -> None:
        self.library = settings.AGENT_SKILLS_DIRS[0]

    def do(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return verb(*args, **kwargs)

    def look(self, path: str, session: str) -> str:
        client = _client()
        client.cookies[settings.SESSION_COOKIE_NAME] = session
        return client.get(path).content.decode()


def _client() -> Client:
    return Client(headers={"host": "localhost"})


def main(skills: int) -> None:
    """Print the results for all pages of the demo project, with this many skills added."""
    built = world.build(InProcessSite())
    fill(built.team.project, skills)
    owner, stranger = _client(), _client()
    owner.force_login(built.team.person(roles.OWNER))
    pages = {screen.name: (owner if screen.signed_in else stranger, screen.path(built)) for screen in SCREENS}
    print(json.dumps({name: measure(*page) for name, page in pages.items()}))


def fill(project: Project, skills: int) -> None:
    """Add skills, and some days of usage for each."""
    bulk_skills.fill(project, skills)
    today = timezone.now().date()
    Usage.objects.bulk_create(
        (
            Usage(project=project, skill=f"skill-{number:05}", version="1", caller="bench", day=day, loads=3)
            for number in range(skills)
            for day in (today - timedelta(back) for back in range(DAYS))
        ),
        batch_size=5_000,
    )


def measure(client: Client, path: str) -> tuple[float, int]:
    """Return processor time, which other work on the machine does not affect, and the number of queries."""
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(path)
        queries = len(captured)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} returned {answer.status_code}")
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        client.get(path)
        times.append((time.process_time() - started) * 1_000)
    return statistics.median(times), queries
