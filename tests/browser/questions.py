"""Routing in every state: a stale test question, two evaluations, and a log of questions."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from registry.core.routing.golden import Case
from registry.models import Project
from registry.services import permissions
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.routing import evaluations, golden_set, route_log, routing, routing_settings

_ASKED = (
    "where is my parcel, it should have been here on Monday",
    "the lift on the third floor is stuck again",
    "can I take the night train and get the money back?",
)


@dataclass(frozen=True)
class Asked:
    """A test question and an evaluation."""

    case: int
    evaluation: int


def fill(project: Project, owner: Actor, author: Actor) -> Asked:
    """Switch on the log, ask questions as an agent, and run the test questions once more."""
    routing_settings.change(project, by=owner, log_days=30)
    project.refresh_from_db()
    agent = permissions.agent(agents.get(project, "support-desk"), frozenset())
    for hours, query in enumerate(_ASKED, 1):
        answer = routing.route(project.pk, project.revision, query)
        now = timezone.now() - timedelta(hours=hours)
        route_log.record(project.pk, project.revision, query, answer, caller=agent, now=now)
    gone = Case("What is the price in Swiss francs?", ("manual-price-quote",), note="Asked at the till")
    golden_set.add(project, [gone], by=author)
    return Asked(golden_set.cases(project, by=author)[0].pk, evaluations.run(project, by=author).pk)
