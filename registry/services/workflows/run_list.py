"""The list of runs of a project."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from registry.core.bundle import normalise
from registry.core.workflows.records import FINAL, RunState
from registry.models import Project, Run, RunQuestion
from registry.models.workflows import OPEN, RunQuerySet
from registry.services.permissions import Actor
from registry.services.workflows import question_queue, runs

UNFINISHED, FINISHED = "unfinished", "finished"
STATES = (*(state.value for state in RunState), UNFINISHED, FINISHED)
_RECENT = 2_000  # runs that the choices of filters are taken from
_QUESTIONS = 500  # of the runs on a page
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


@dataclass(frozen=True, slots=True)
class Choices:
    """The values that the filters offer: names of skills, and of who started runs with a name for people."""

    skills: tuple[str, ...]
    starters: Mapping[str, str]


def choices(project: Project, *, by: Actor) -> Choices:
    """Return the values of the latest runs."""
    columns = ("skill", "started_by", "agent__name", "user__first_name", "user__last_name")
    recent = set(runs.visible(project, by=by).order_by("-pk").values_list(*columns)[:_RECENT])
    starters = {name: _label(name, agent, *parts) for _, name, agent, *parts in recent}
    return Choices(
        tuple(sorted({skill for skill, *_ in recent})),
        dict(sorted(starters.items(), key=lambda pair: pair[1].lower())),
    )


def _label(name: str, agent: str | None, *parts: str | None) -> str:
    return f"Agent {agent}" if agent else " ".join(filter(None, parts)) or name


@dataclass(frozen=True, slots=True)
class Waiting:
    """The open questions of a run. `people` and `roles` are asked; both are empty if every reviewer is."""

    count: int
    is_for_me: bool
    people: tuple[str, ...]
    roles: tuple[str, ...]


def waiting(project: Project, found: Iterable[Run], *, by: Actor) -> dict[int, Waiting]:
    """Return who the runs of a page wait for, by the id of the run."""
    ids = [run.pk for run in found]
    if not ids:
        return {}
    mine = set(question_queue.find(project, by=by).filter(run__in=ids).values_list("run", flat=True))
    open_ = RunQuestion.objects.filter(run__in=ids, state=OPEN).order_by("pk").values_list("run", "people", "roles")
    asked: dict[int, list[tuple[list[str], list[str]]]] = {}
    for run, people, their_roles in open_[:_QUESTIONS]:
        asked.setdefault(run, []).append((people, their_roles))
    return {run: _waiting(groups, is_for_me=run in mine) for run, groups in asked.items()}


def _waiting(groups: list[tuple[list[str], list[str]]], *, is_for_me: bool) -> Waiting:
    asks_all = any(not people and not their_roles for people, their_roles in groups)
    people = () if asks_all else tuple(dict.fromkeys(name for names, _ in groups for name in names))
    their_roles = () if asks_all else tuple(dict.fromkeys(role for _, named in groups for role in named))
    return Waiting(len(groups), is_for_me, people, their_roles)
