"""Versions of runs: whether a run has changed, with one query and without its values."""

from dataclasses import dataclass

from registry.core.errors import NotFound
from registry.core.workflows.records import FINAL
from registry.models import Project, Run
from registry.services.permissions import Actor
from registry.services.workflows import answerers, runs

_FINAL = frozenset(state.value for state in FINAL)


@dataclass(frozen=True, slots=True)
class RunVersion:
    """The state of a run, and the number of its changes so far."""

    state: str
    changes: int
    identity: str  # differs for another run with the same number, which a restored backup can give

    @property
    def is_finished(self) -> bool:
        return self.state in _FINAL


def current(project: Project, run_id: int, *, by: Actor) -> RunVersion:
    """Return the version of a run. An agent finds only those that it started."""
    columns = ("state", "changes", "created_at", "started_at", "lock__digest")
    row = runs.visible(project, by=by).filter(pk=run_id).values_list(*columns).first()
    if row is None:
        raise NotFound("There is no such run in this project.")
    state, changes, *rest = row
    return RunVersion(state, changes, " ".join(map(str, rest)))


def tag(project: Project, run_id: int, *, by: Actor) -> str:
    """Return a text that differs whenever the run differs for this actor.

    An unfinished run also tells reviewers why they cannot answer a question, which depends on their role and tokens.
    """
    version = current(project, run_id, by=by)
    found = f"{run_id} {version.changes} {version.state} {version.identity}"
    if version.is_finished:
        return found
    answerer = answerers.answerer(Run(pk=run_id, project_id=project.pk), by)
    return f"{found} {answerer.role} {answerer.is_barred}"
