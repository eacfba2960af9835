"""The worker of runs: takes runs that are due, and carries each until it ends or needs a person.

One thread decides and writes. Tasks go to an executor. Each decision is stored, with the intent of the tasks that it
starts, before they start.
"""

import logging
import random
import threading
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, close_old_connections, connection

from registry.core.workflows.failures import Code, Failure
from registry.core.workflows.records import Phase
from registry.core.workflows.tasks import Outcome, Task
from registry.services.workflows import held_runs, run_leases
from registry.services.workflows.database_clock import DatabaseClock
from registry.services.workflows.executor import Executor, Key, configured
from registry.services.workflows.held_runs import HeldRun, LeaseLost, Pending

log = logging.getLogger(__name__)

_POLL_SECONDS = 0.2
_DRAIN_SECONDS = 10.0
_PAUSE_AFTER_ERROR = 1.0
_PARTS = 4  # of its runs, a worker takes one part at a time, so that other workers get some of them
_LOG_SECONDS = 60.0
# After a decision, the worker leaves the database to others for as long as it has taken. Writers of SQLite do not
# queue: they try again after pauses, and would hardly ever meet a gap between two decisions.
_MOST_GAP_SECONDS = 0.02
_HOLD_SECONDS = 1.0  # a run that goes on so soon is not parked


class RunWorker:
    """`lease` is how long a run stays with a worker that no longer answers."""

    def __init__(
        self,
        *,
        executor: Executor | None = None,
        lease: timedelta | None = None,
        most_runs: int | None = None,
        name: str = "",
        poll_seconds: float = _POLL_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name or f"worker-{uuid.uuid4().hex[:16]}"
        self.lease = lease or timedelta(seconds=settings.WORKFLOW_LEASE_SECONDS)
        self.most_runs = most_runs or settings.WORKFLOW_RUNS
        self.executor = executor or configured()
        self.clock = DatabaseClock(monotonic)
        self.held: dict[int, HeldRun] = {}
        self.saturated = 0  # decisions that left work waiting, because their runs did as much at once as they may
        self._poll_seconds = poll_seconds
        self._monotonic = monotonic
        self._renewed = self._looked = float("-inf")
        self._logged = (monotonic(), 0)  # when, and how many decisions were saturated
        self._look_after = 0.0
        self._is_draining = False

    def run_until(self, stop: threading.Event) -> None:
        """Work until `stop` is set. Then give the runs back."""
        while not stop.is_set():
            try:
                if not self.work(timeout=self._poll_seconds) and not self.held:
                    stop.wait(self._poll_seconds)
            except Error:
                log.exception("The worker of runs could not reach the database. It tries again.")
                close_old_connections()
                stop.wait(_PAUSE_AFTER_ERROR)
        try:
            self._drain()
        except Error:
            log.exception("The worker of runs could not give its runs back. Others take them when the leases are over.")

    def _log_saturation(self) -> None:
        """Log each minute how often runs had more to do than they may do at once, if they had."""
        at, count = self._logged
        if self.saturated == count or self._monotonic() - at < _LOG_SECONDS:
            return
        self._logged = (self._monotonic(), self.saturated)
        log.info(
            "Since the last such line, %s decisions left work waiting, because their runs did as many calls at once as "
            "max_workers and WORKFLOW_THREADS allow. The worker has counted %s.",
            self.saturated - count,
            self.saturated,
        )

    def _drain(self) -> None:
        """Take the outcomes of the calls that are on their way, start no others, and give all runs back."""
        deadline = self._monotonic() + _DRAIN_SECONDS
        self._is_draining = True
        for held in self.held.values():
            held.scheduler.pause()
            held.has_changed = True
        self._advance([])
        while self._has_tasks_to_lose() and self._monotonic() < deadline:
            self._renew()
            self._advance(self.executor.results(self.held, timeout=self._poll_seconds))
        run_leases.release(self.name)

    def _has_tasks_to_lose(self) -> bool:
        return not self.executor.stores_tasks and any(held.scheduler.in_flight for held in self.held.values())

    def work(self, *, timeout: float = 0.0) -> bool:
        """Do what is due now, and wait for results up to `timeout` seconds. Return whether there was anything to do."""
        self._renew()
        looked = self._look()
        waits = self.held and not looked and not any(held.has_changed for held in self.held.values())
        results = self.executor.results(self.held, timeout=timeout if waits else 0.0)
        self._advance(results)
        self._log_saturation()
        return looked or bool(results)

    def _advance(self, results: list[tuple[Key, Outcome | None]]) -> None:
        for key, outcome in results:
            if (held := self.held.get(key[0])) is not None:
                self._guarded(held, partial(self._report, key=key, outcome=outcome))
        for held in list(self.held.values()):
            self._guarded(held, self._drive)

    def _renew(self) -> None:
        """Renew the leases, each third of their time, and let go of runs that another worker has taken."""
        if self._monotonic() - self._renewed < self.lease.total_seconds() / 3:
            return
        begun, sure_until = self._monotonic(), self._sure_until()
        mine = run_leases.renew(self.name, self.held, lease=self.lease, now=self.clock.now())
        self._renewed = begun
        for run_id in mine:
            self.held[run_id].sure_until = sure_until
        for run_id in self.held.keys() - set(mine):
            self._lose(run_id)

    def _sure_until(self) -> float:
        """Return the time up to which calls may start under a lease that begins now. The rest of the lease is spare."""
        return self._monotonic() + self.lease.total_seconds() * 2 / 3

    def _lose(self, run_id: int) -> None:
        log.warning("Run %s is with another worker now.", run_id)
        self.held.pop(run_id, None)

    def _look(self) -> bool:
        """Look for runs that are due, and for answers to those that are held. Return whether there were any."""
        if self._monotonic() - self._looked < self._look_after:
            return False
        self._looked = self._monotonic()
        self._look_after = self._poll_seconds * random.uniform(0.75, 1.25)  # noqa: S311 - spreads the polls of workers
        for run_id in held_runs.with_mail(self.held.values()):
            self.held[run_id].has_mail = True
        room = self.most_runs - len(self.held)
        if room <= 0 or self.executor.is_stuck:
            return False
        now, sure_until = self.clock.now(), self._sure_until()
        most = min(room, max(1, self.most_runs // _PARTS))
        taken = run_leases.take(self.name, most=most, lease=self.lease, now=now)
        for run in taken:
            try:
                self.held[run.pk] = held_runs.open_run(
                    run,
                    stores_tasks=self.executor.stores_tasks,
                    most_tasks=self.executor.most_tasks,
                    sure_until=sure_until,
                    now=now,
                )
            except Exception:
                log.exception("Run %s could not be opened.", run.pk)
                run_leases.postpone(run, now=now)
        if len(taken) == most:
            self._look_after /= _PARTS
        return bool(taken)

    def _report(self, held: HeldRun, *, key: Key, outcome: Outcome | None) -> None:
        _, fence, path = key
        if held.run.fence != fence or path not in held.scheduler.in_flight:
            return  # the run is with another worker, or was stopped
        held.scheduler.report(path, outcome or self._timed_out(held, path), self._now())
        held.has_changed = True

    def _timed_out(self, held: HeldRun, path: str) -> Outcome:
        record = held.scheduler.tree.records[path]
        may_repeat = record.phase is not Phase.CALL or held.scheduler.may_repeat(record.uses)
        failure = Failure(Code.TIMEOUT, "The call took longer than it may.")
        return Outcome(failure=failure, retryable=may_repeat, in_doubt=not may_repeat)

    def _now(self) -> float:
        return self.clock.now().timestamp()

    def _drive(self, held: HeldRun) -> None:
        """Decide, store the decision, and start its tasks."""
        pending = held.pending or self._decide(held)
        if pending is None:
            return
        held.pending = pending  # until it is stored
        began = time.monotonic()
        is_free = held_runs.write(held, pending)
        held.pending = None
        if connection.vendor == "sqlite":
            time.sleep(min(time.monotonic() - began, _MOST_GAP_SECONDS))
        if is_free:
            del self.held[held.run.pk]
            self._look_after = 0.0  # there is room for another run
            return
        held.has_mail = pending.park  # an answer arrived meanwhile, so the run was not parked
        for task in pending.decision.tasks:
            self.executor.start(held, task, partial(self._perform, held, task))

    def _decide(self, held: HeldRun) -> Pending | None:
        is_due = held.wake_at is not None and held.wake_at <= self._now()
        if not (held.has_changed or held.has_mail or is_due):
            return None
        taken = held_runs.read_inbox(held, now=self.clock.now()) if held.has_mail else []
        now = self.clock.now()
        if held.capabilities.refresh(now.timestamp()):
            held_runs.refresh_trust(held)
        decision = held.scheduler.decide(now.timestamp())
        self.saturated += decision.saturated
        held.has_changed, held.wake_at = decision.goes_on, decision.wake_at
        soon = decision.wake_at is not None and decision.wake_at - now.timestamp() < _HOLD_SECONDS
        goes_on = decision.goes_on or (soon and not self._is_draining)
        park = decision.end is None and not held.scheduler.in_flight and not goes_on
        spent, held.spent = held.spent, []
        return Pending(decision, taken, spent, park, now)

    def _perform(self, held: HeldRun, task: Task) -> Outcome:
        """Perform a task of this process, unless the run may be with another worker by now."""
        if self._monotonic() > held.sure_until:
            return Outcome(not_made=True)
        return held.dispatcher.perform(task)

    def _guarded(self, held: HeldRun, action: Callable[[HeldRun], None]) -> None:
        try:
            action(held)
        except LeaseLost:
            self._lose(held.run.pk)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            log.exception("Run %s could not go on.", held.run.pk)
            self.held.pop(held.run.pk, None)
            run_leases.postpone(held.run, now=self.clock.now())
