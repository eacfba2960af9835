"""Processor time of the editor's preview: a saved draft, its checks, and the impact on the test questions."""

import time

from django.test import Client
from django.urls import reverse

from bench import routing_skills
from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.core.routing.golden import Case
from registry.models import Project, User
from registry.services import permissions
from registry.services.people import accounts, members
from registry.services.routing import golden_set, indexes

QUESTIONS, ROUNDS = 300, 10
_NUMBER = 7  # of the skill that is edited


def measure(project: Project, count: int) -> dict[str, float]:
    """Return the median and the largest time of a request that saves what somebody typed, in milliseconds."""
    by = permissions.operator()
    queries = list(dict.fromkeys(routing_skills.questions(count, 2 * QUESTIONS)))[:QUESTIONS]
    cases = [Case(query, (f"skill-{place % count:05}",)) for place, query in enumerate(queries)]
    golden_set.add(project, cases, by=by)
    project.refresh_from_db()
    built = indexes.of(project.pk, project.revision, complete=True)
    name = f"skill-{_NUMBER:05}"
    client = _signed_in(project)
    taken = []
    for number in range(ROUNDS + 1):
        text = routing_skills.bundle(_NUMBER, f" draft {number}")[SKILL_MD].decode()
        typed = {"do": "save", "mode": "raw", "base": built.candidates[name].digest, "name": name, "text": text}
        cpu = time.process_time()
        answer = client.post(reverse("skill-edit", args=[project.slug, name]), typed, headers={"HX-Request": "true"})
        taken.append(1_000 * (time.process_time() - cpu))
        if answer.status_code != 200 or b"test questions checked" not in answer.content:
            raise RuntimeError(f"The editor returned {answer.status_code} without an impact.")
    taken = sorted(taken[1:])  # the first request loads the test questions
    return {"p50": taken[len(taken) // 2], "most": taken[-1]}


def _signed_in(project: Project) -> Client:
    by = permissions.operator()
    user = User.objects.filter(username="bench").first() or accounts.create_user("bench", by=by)
    members.set_role(project, user, roles.OWNER, by=by)
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    return client
