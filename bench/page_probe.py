"""What every page costs inside the process: milliseconds and queries. Run by bench/pages.py in a shell of Django."""

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

from bench import many
from registry.core import roles
from registry.models import Project, Usage
from tests.browser import world
from tests.browser.screens import SCREENS
from tests.browser.site import Site

ROUNDS = 9
DAYS = 5


class Here(Site):
    """The site is this process."""

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
    """Prints the figures of all pages of the demo in all its states, filled up to that many skills."""
    built = world.build(Here())
    fill(built.team.project, skills)
    owner, stranger = _client(), _client()
    owner.force_login(built.team.person(roles.OWNER))
    pages = {screen.name: (owner if screen.signed_in else stranger, screen.path(built)) for screen in SCREENS}
    print(json.dumps({name: measured(*page) for name, page in pages.items()}))


def fill(project: Project, skills: int) -> None:
    """Skills in bulk, and days on which each of them was loaded."""
    many.fill(project, skills)
    today = timezone.now().date()
    Usage.objects.bulk_create(
        (
            Usage(project=project, skill=f"skill-{number:05}", version="1", caller="bench", day=day, loads=3)
            for number in range(skills)
            for day in (today - timedelta(back) for back in range(DAYS))
        ),
        batch_size=5_000,
    )


def measured(client: Client, path: str) -> tuple[float, int]:
    """The time of the processor, so that other work on the machine does not count."""
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(path)
        queries = len(captured)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answered {answer.status_code}")
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        client.get(path)
        times.append((time.process_time() - started) * 1_000)
    return statistics.median(times), queries
