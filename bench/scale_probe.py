"""Processor time and queries of some requests. bench/scale.py runs this in a Django shell."""

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bench import bulk_skills
from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.models import Project, User
from registry.services import permissions
from registry.services.agents import agents, tokens
from registry.services.people import accounts, members

ROUNDS = 7
API = "/api/v1/projects/demo"


class Probe:
    def __init__(self) -> None:
        by = permissions.operator()
        self.project = Project.objects.get(slug="demo")
        user = User.objects.filter(username="reader").first() or accounts.create_user("reader", by=by)
        members.set_role(self.project, user, roles.OWNER, by=by)
        agent = agents.ensure(self.project, "bench", by=by)
        token = tokens.create_token(self.project, agent=agent, scopes=("read", "write"), by=by)
        self.page = Client()
        self.page.force_login(user)
        self.api = Client(headers={"Authorization": f"Bearer {token}", "Accept": "application/json"})
        self.saves = 0

    def save(self) -> Any:
        """Return a function that saves the next version of one skill, which increments the project's revision."""
        self.saves += 1
        digest = self.api.get(f"{API}/skills/skill-00001").json()["digest"]
        text = bulk_skills.bundle(1)[SKILL_MD].decode() + f"\nSaved {time.time_ns()}.\n"
        return lambda: self.api.put(
            f"{API}/skills/skill-00001",
            json.dumps({"skill_md": text}),
            content_type="application/json",
            headers={"If-Match": f'"{digest}"'},
        )

    def reads(self) -> dict[str, Callable[[], Any]]:
        return {
            "skill list": lambda: self.page.get("/projects/demo/skills/"),
            "skill list, search": lambda: self.page.get("/projects/demo/skills/?q=kind+7"),
            "effective": lambda: self.api.get(f"{API}/effective"),
            "catalog": lambda: self.api.get(f"{API}/catalog"),
            "catalog within 2,000 tokens": lambda: self.api.get(f"{API}/catalog?budget=2000"),
            "load": lambda: self.api.get(f"{API}/skills/skill-00042"),
        }


def timed(call: Callable[[], Any]) -> tuple[float, int]:
    with CaptureQueriesContext(connection) as queries:
        started = time.process_time()
        answer = call()
        milliseconds = (time.process_time() - started) * 1_000
    if answer.status_code != 200:
        raise RuntimeError(answer.content.decode())
    return milliseconds, len(queries)


def main() -> None:
    """Print the cost of a save, and of each read directly after a change and once more."""
    settings.ALLOWED_HOSTS.append("testserver")
    probe = Probe()
    figures: dict[str, dict[str, list[tuple[float, int]]]] = {}
    for _ in range(ROUNDS):
        for name, read in probe.reads().items():
            figures.setdefault("save", {}).setdefault("after a change", []).append(timed(probe.save()))
            rows = figures.setdefault(name, {})
            rows.setdefault("after a change", []).append(timed(read))
            rows.setdefault("again", []).append(timed(read))
    print(
        json.dumps({name: {when: _median(results) for when, results in rows.items()} for name, rows in figures.items()})
    )


def _median(measured: list[tuple[float, int]]) -> tuple[float, int]:
    return statistics.median(ms for ms, _ in measured), max(queries for _, queries in measured)
