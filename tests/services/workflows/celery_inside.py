"""An executor with rows for Celery, whose messages arrive in the process that sent them.

So its tasks are part of the transaction of a test. Real brokers and real Celery workers are in tests/faults.
"""

import json
import time
from collections.abc import Callable, Mapping

from registry.core.workflows.tasks import Outcome
from registry.services.workflows.call_worker import CallWorker
from registry.services.workflows.celery_app import TASK
from registry.services.workflows.celery_executor import CeleryExecutor
from registry.services.workflows.executor import Key
from registry.services.workflows.held_runs import HeldRun


class CeleryInside(CeleryExecutor):
    """Performs each task in the thread that waits for its outcome, unless `is_down`. `messages` are as on the wire."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        super().__init__(monotonic)
        self.messages: list[str] = []
        self.is_down = False
        self.calls = CallWorker()
        self._app = self

    def send_task(self, name: str, args: tuple[int]) -> None:
        if self.is_down:
            raise ConnectionRefusedError("The broker is down.")
        self.messages.append(json.dumps([name, args]))

    def deliver(self, message: str) -> None:
        name, (number,) = json.loads(message)
        assert name == TASK
        self.calls.perform(number)

    def results(self, held: Mapping[int, HeldRun], *, timeout: float) -> list[tuple[Key, Outcome | None]]:
        while self.messages:
            self.deliver(self.messages.pop(0))
        return super().results(held, timeout=timeout)
