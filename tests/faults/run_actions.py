"""Actions on runs: make a project with workflows, start runs, answer their questions, and return what they left."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.utils import timezone

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import SkillsiteError
from registry.core.format import skill_md
from registry.core.workflows.records import FINAL
from registry.models import Event, Project, Run, RunApproval, RunQuestion, RunStep, RunTask, User
from registry.models.workflows import OPEN
from registry.services import permissions
from registry.services.audit_log import verification
from registry.services.people import accounts, members, projects
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows import questions, run_sweep, runs
from registry.services.workflows.run_worker import RunWorker
from tests import effort
from tests.faults.effect_server import happened, release
from tests.faults.sites import state_of, wait_for

OPERATOR = permissions.operator()
STARTER, REVIEWERS = "starter", tuple(f"reviewer-{number}" for number in range(8))


def start_worker(log: str, *arguments: str) -> int:
    """Start `manage.py worker` in a process of its own, and return its id. Its output goes to the file `log`.

    To fork a process that has loaded everything takes a tenth of the time. Such a process may not use the database.
    """
    assert not any(connection.connection for connection in connections.all(initialized_only=True))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that no worker stays behind as a zombie
    pid = os.fork()
    if pid:
        return pid
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = 1
    try:
        for number in (1, 2):
            os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
        call_command("worker", *arguments)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        os._exit(code)


def stop_worker(pid: int, address: str) -> None:
    """Stop a worker, and release the requests that it waits for. It stops at the worst moment that a site survives.

    On PostgreSQL, that is in the middle of a decision. A process that is stopped while it writes to SQLite holds up all
    others, so there it is stopped between two decisions.
    """
    with transaction.atomic(), connection.cursor() as cursor:  # SQLite has one writer at a time, which is this one
        if connection.vendor == "postgresql":
            cursor.execute("LOCK TABLE registry_runstep IN SHARE ROW EXCLUSIVE MODE")
            release(address)
            # pg_stat_activity would show the queries of the moment at which this transaction first looked.
            waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'registry_runstep'::regclass"
            wait_for(lambda: cursor.execute(waiting).fetchone() is not None)
        os.kill(pid, signal.SIGSTOP)
        wait_for(lambda: state_of(pid) == "T")
    release(address)


def make_flow(slug: str, workflows: dict[str, str]) -> None:
    """Create a project with skills that have workflows, a person who starts runs, and reviewers."""
    project = projects.create(slug=slug, name=slug.capitalize(), by=OPERATOR)
    for who in (STARTER, *REVIEWERS):
        role = roles.AUTHOR if who == STARTER else roles.REVIEWER
        members.set_role(project, accounts.create_user(f"{slug}-{who}", by=OPERATOR), role, by=OPERATOR)
    for name, text in workflows.items():
        document = skill_md.compose(name=name, description=f"Does {name}. Use for {name}.", instructions=f"# {name}")
        bundle = Bundle({SKILL_MD: document.encode(), "workflow.yaml": text.encode()})
        skills.create(project, bundle, by=OPERATOR)


def define(directory: str, name: str, text: str) -> None:
    """Write the definition of a capability, which this process uses from now on."""
    settings.CAPABILITIES_DIRS, settings.SKILLS_RELOAD_SECONDS = [Path(directory)], 0.001
    (Path(directory) / f"{name}.yaml").write_text(text)


def start_runs(slug: str, skill: str, names: Sequence[str]) -> list[int]:
    """Start a run for each name, which the names of its effects begin with."""
    project = Project.objects.get(slug=slug)
    by = _person(project, STARTER)
    return [runs.start(project, skill, inputs={"name": name}, by=by).pk for name in names]


def _person(project: Project, who: str) -> Actor:
    return permissions.person(User.objects.get(username=f"{project.slug}-{who}"), project)


def tend(slug: str, address: str) -> dict[str, int]:
    """Answer every open question truthfully, and return how many runs have not ended, and how many were stuck."""
    stuck = run_sweep.wake_stuck(now=timezone.now() + timedelta(hours=1))
    project = Project.objects.get(slug=slug)
    by = _person(project, REVIEWERS[0])
    asked = list(RunQuestion.objects.open_in(project))
    for question in asked:
        _answer(project, question, address, by)
    unfinished = Run.objects.filter(project=project).exclude(state__in=FINAL).count()
    return {"unfinished": unfinished, "asked": len(asked), "stuck": stuck}


def _answer(project: Project, question: RunQuestion, address: str, by: Actor) -> None:
    given: dict[str, Any] = {"digest": question.digest, "by": by}
    try:
        if question.kind == "approve":
            questions.approve(project, question.run_id, question.pk, **given)
        elif question.kind == "input":
            questions.answer(project, question.run_id, question.pk, value={"number": 7}, **given)
        else:
            done = happened(address, question.shown["capability"], f"run-{question.run_id}/{question.path}")
            output = {"name": question.shown["input"]["name"]}
            value = {"happened": True, "output": output} if done else {"happened": False}
            questions.answer(project, question.run_id, question.pk, value=value, **given)
    except SkillsiteError as error:
        if error.code != "already-decided":  # a run that ended has withdrawn it
            raise


@lru_cache
def _worker() -> RunWorker:
    return RunWorker(poll_seconds=0)


def carry(slug: str, number: int, until: Sequence[str]) -> str:
    """Work as a worker of runs until a run has one of these states, up to a limit, and return its state."""
    end = time.monotonic() + effort.PATIENCE
    while True:
        _worker().work()
        state = Run.objects.values_list("state", flat=True).get(pk=number, project__slug=slug)
        if (state in until and not _worker().held) or time.monotonic() > end:
            return state


def open_questions(slug: str, skill: str = "") -> list[dict[str, Any]]:
    """Return the open questions of a project, or of one of its skills."""
    found = RunQuestion.objects.filter(run__project__slug=slug, state=OPEN).order_by("pk")
    asked = found.filter(run__skill=skill) if skill else found
    return list(asked.values("id", "run_id", "path", "kind", "digest"))


def answer_question(
    slug: str, verb: str, question: dict[str, Any], digest: str, number: int, value: Any = None
) -> dict[str, Any]:
    """Answer as the reviewer with this number. Return an empty result, or the reason why it was refused."""
    project = Project.objects.get(slug=slug)
    more = {"value": value} if verb == "answer" else {}
    try:
        getattr(questions, verb)(
            project, question["run_id"], question["id"], digest=digest, by=_person(project, REVIEWERS[number]), **more
        )
    except SkillsiteError as error:
        return {"refused": error.code}
    return {}


def runs_of(slug: str) -> list[dict[str, Any]]:
    """Return the runs of a project with their steps, oldest first."""
    found = Run.objects.filter(project__slug=slug).order_by("pk")
    fields = ("id", "state", "code", "reason", "fence", "troubles", "worker", "changes", "outputs", "state_digest")
    return [
        {**{name: getattr(run, name) for name in fields}, "lease": _seconds(run.leased_until),
         "steps": list(run.steps.order_by("began").values("path", "uses", "state", "attempts", "ended"))}
        for run in found
    ]  # fmt: skip


def _seconds(moment: Any) -> float | None:
    return moment.timestamp() if moment is not None else None


def rows_of(slug: str, numbers: Sequence[int]) -> dict[str, list[dict[str, str]]]:
    """Return everything that is stored about these runs."""
    tables = {
        "runs": Run.objects.filter(project__slug=slug, pk__in=numbers),
        "steps": RunStep.objects.filter(run__in=numbers),
        "questions": RunQuestion.objects.filter(run__in=numbers),
        "tasks": RunTask.objects.filter(run__in=numbers),
    }
    return {
        name: [{column: str(value) for column, value in row.items()} for row in table.order_by("pk").values()]
        for name, table in tables.items()
    }


def record_of_runs(slug: str) -> dict[str, Any]:
    """Return what may be wrong after all runs of a project have ended."""
    project = Project.objects.get(slug=slug)
    unfinished = Run.objects.filter(project=project).exclude(state__in=FINAL)
    verbs = Event.objects.filter(chain__project=project).values_list("verb", flat=True)
    return {
        "unfinished": unfinished.count(),
        "tasks": RunTask.objects.filter(run__project=project).count(),
        "open": RunQuestion.objects.filter(run__project=project, state=OPEN).count(),
        "doubts": RunQuestion.objects.filter(run__project=project, kind="doubt").count(),
        "approvals": RunApproval.objects.filter(question__run__project=project).count(),
        "unended_steps": RunStep.objects.filter(run__project=project, ended=None).count(),
        "troubles": sum(Run.objects.filter(project=project).values_list("troubles", flat=True)),
        "verbs": {verb: list(verbs).count(verb) for verb in set(verbs)},
        "broken": [str(fault) for fault in verification.verify(project)[1]],
    }


ACTIONS: dict[str, Callable[..., Any]] = {
    action.__name__: action
    for action in (
        start_worker, stop_worker, make_flow, define, start_runs, tend, carry, open_questions, answer_question,
        runs_of, rows_of, record_of_runs,
    )
}  # fmt: skip
