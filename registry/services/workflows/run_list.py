"""The list of runs of a project."""

from dataclasses import dataclass

from registry.core.bundle import normalise
from registry.core.workflows.records import FINAL, RunState
from registry.models import Project
from registry.models.workflows import RunQuerySet
from registry.services.permissions import Actor
from registry.services.workflows import runs

UNFINISHED, FINISHED = "unfinished", "finished"
STATES = (*(state.value for state in RunState), UNFINISHED, FINISHED)
_FINAL = tuple(sorted(state.value for state in FINAL))


@dataclass(frozen=True, slots=True)
class Filter:
    """Criteria for the list. `state` is one of STATES, and `by` the name of the person or agent who started the run."""

    state: str = ""
    skill: str = ""
    by: str = ""
    is_mine: bool = False


def list_runs(project: Project, criteria: Filter, *, by: Actor) -> RunQuerySet:
    """Return the runs that an actor may see, newest first. An agent sees only its own."""
    found = runs.visible(project, by=by).for_list()
    if criteria.state == UNFINISHED:
        found = found.exclude(state__in=_FINAL)
    elif criteria.state == FINISHED:
        found = found.filter(state__in=_FINAL)
    elif criteria.state:
        found = found.filter(state=criteria.state)
    if criteria.skill:
        found = found.filter(skill=normalise(criteria.skill))
    if criteria.by:
        found = found.filter(started_by=criteria.by)
    if criteria.is_mine and by.agent_id is None:
        found = found.filter(user_id=by.user_id or 0)
    return found
