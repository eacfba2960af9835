"""Progress of a run: how many of its steps are in which state."""

from dataclasses import dataclass

from django.db.models import Count

from registry.core.errors import NotFound
from registry.models import Project, Run
from registry.models.workflows import OPEN
from registry.services.permissions import Actor
from registry.services.workflows import runs


@dataclass(frozen=True, slots=True)
class Progress:
    """`run` lacks its large values. `steps` are the numbers of its steps by state."""

    run: Run
    steps: dict[str, int]
    open_questions: int


def of(project: Project, run_id: int, *, by: Actor) -> Progress:
    """Return the progress of a run. An agent finds only those that it started."""
    run = runs.visible(project, by=by).for_list().filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no such run in this project.")
    counts = run.steps.order_by().values_list("state").annotate(Count("pk"))
    return Progress(run, dict(counts), run.questions.filter(state=OPEN).count())
