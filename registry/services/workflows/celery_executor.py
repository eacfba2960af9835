"""The executor for installations where one machine is not enough: rows for Celery workers.

The messages are only a hint. A task whose row stays unclaimed is sent again, for example after the broker lost its
messages. Two messages for one row do no harm, because only one worker can claim it.
"""

import logging
import sys
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from registry.core.workflows.tasks import Outcome, Task
from registry.services.workflows import celery_app, run_tasks
from registry.services.workflows.database_clock import DatabaseClock
from registry.services.workflows.executor import Key
from registry.services.workflows.held_runs import HeldRun

log = logging.getLogger(__name__)

_POLL_SECONDS = 0.05
_SEND_AGAIN_SECONDS = 3.0  # and twice as long after each further message
_MOST_SECONDS = 60.0
_BROKER_PAUSE_SECONDS = 2.0


@dataclass(slots=True)
class _Message:
    due: float
    pause: float = _SEND_AGAIN_SECONDS


class CeleryExecutor:
    stores_tasks = True
    is_stuck = False
    most_tasks = sys.maxsize  # nobody here knows how many Celery workers there are

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._app = celery_app.sender()
        self._clock = DatabaseClock(monotonic)
        self._monotonic = monotonic
        self._messages: dict[int, _Message] = {}
        self._broker_again = float("-inf")

    def start(self, held: HeldRun, task: Task, perform: Callable[[], Outcome]) -> None:
        self._send(held.tasks[task.path])

    def results(self, held: Mapping[int, HeldRun], *, timeout: float) -> list[tuple[Key, Outcome | None]]:
        end = self._monotonic() + timeout
        out = {number: (one, path) for one in held.values() for path, number in one.tasks.items()}
        while True:
            found = run_tasks.arrived(out, now=self._clock.now()) if out else {}
            if found:
                return [self._taken(*out[number], outcome) for number, outcome in found.items()]
            self._send_again(out)
            left = end - self._monotonic()
            if left <= 0:
                return []
            time.sleep(min(_POLL_SECONDS, left))

    def _taken(self, held: HeldRun, path: str, outcome: Outcome | None) -> tuple[Key, Outcome | None]:
        number = held.tasks.pop(path)
        held.spent.append(number)
        self._messages.pop(number, None)
        return (held.run.pk, held.run.fence, path), outcome

    def _send_again(self, out: Collection[int]) -> None:
        """Send messages for rows that stay unclaimed."""
        now = self._monotonic()
        self._messages = {number: self._messages.get(number, _Message(now)) for number in out}
        due = [number for number, message in self._messages.items() if message.due <= now]
        if not due or now < self._broker_again:
            return
        waiting = run_tasks.unclaimed(due)
        for number in due:
            if number in waiting:
                self._send(number)
            else:
                self._messages[number].due = float("inf")

    def _send(self, number: int) -> None:
        now = self._monotonic()
        message = self._messages.setdefault(number, _Message(now))
        message.due, message.pause = now + message.pause, min(2 * message.pause, _MOST_SECONDS)
        if now < self._broker_again:
            message.due = self._broker_again
            return
        try:
            self._app.send_task(celery_app.TASK, args=(number,))
        except Exception as error:
            log.warning("The message broker cannot be reached (%s). The calls of workflows wait.", type(error).__name__)
            self._broker_again = message.due = self._monotonic() + _BROKER_PAUSE_SECONDS
            message.pause = _SEND_AGAIN_SECONDS
