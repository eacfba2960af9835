"""An executor in one thread, whose tasks end in a fixed order."""

from collections.abc import Callable, Mapping

from registry.core.workflows.tasks import Outcome, Task
from registry.services.workflows.executor import Key
from registry.services.workflows.held_runs import HeldRun


class Together:
    """Performs tasks when their outcomes are wanted. So the outcomes of tasks that start together arrive together."""

    stores_tasks = is_stuck = False

    def __init__(self, most_tasks: int = 8) -> None:
        self.most_tasks = most_tasks
        self.batches: list[int] = []  # how many tasks started together
        self.started: list[tuple[Key, Callable[[], Outcome]]] = []

    def start(self, held: HeldRun, task: Task, perform: Callable[[], Outcome]) -> None:
        self.started.append(((held.run.pk, held.run.fence, task.path), perform))

    def results(self, held: Mapping[int, HeldRun], *, timeout: float) -> list[tuple[Key, Outcome | None]]:
        started, self.started = self.started, []
        self.batches.append(len(started))
        return [(key, perform()) for key, perform in started]
