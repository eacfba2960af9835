"""People whose role changes while a run waits: neither their trust nor their approvals outlive it."""

from collections.abc import Callable

import pytest

from registry.core import roles
from registry.models import Project, Run, RunQuestion, User
from registry.services import permissions
from registry.services.agents import agents
from registry.services.capabilities import capability_registry
from registry.services.people import members
from registry.services.permissions import Actor
from registry.services.workflows import questions, runs
from registry.services.workflows.run_worker import RunWorker
from tests.prepared import ensure_agent
from tests.services.workflows.conftest import APPROVE, finish

TRUSTED = """
id: key.turn
version: 1.0.0
description: Turns the key.
inputs: {value: {type: string}}
outputs: {value: {type: string}}
properties: {side_effects: true, idempotent: false}
safety: {trust_level: elevated}
binding: {kind: builtin, function: data.echo}
"""
FLOW = """
id: flow
version: 1.0.0
steps:
  - {id: ask, uses: human.approve, input: {question: "Turn it?"}}
  - {id: turn, uses: key.turn, input: {value: now}}
"""


def _person(project: Project, name: str, role: str, by: Actor) -> Actor:
    user = User.objects.create_user(name)
    members.set_role(project, user, role, by=by)
    return permissions.person(user, project)


def _approve(question: RunQuestion, by: Actor) -> Run:
    return questions.approve(question.run.project, question.run_id, question.pk, digest=question.digest, by=by)


@pytest.mark.parametrize("role", [roles.OWNER, roles.REVIEWER, roles.AUTHOR, None])
def test_a_run_has_no_more_trust_than_its_starter_has_now(
    project: Project,
    capabilities: Callable[..., None],
    workflow: Callable[..., str],
    worker: RunWorker,
    operator: Actor,
    owner: Actor,
    reviewer: Actor,
    role: str | None,
) -> None:
    capabilities(key=TRUSTED)
    starter = _person(project, "starter", roles.OWNER, operator)
    run = runs.start(project, workflow(FLOW), by=starter)
    finish(worker)
    user = User.objects.get(username="starter")
    if role is None:
        members.remove(project, user, by=operator)
    else:
        members.set_role(project, user, role, by=operator)
    _approve(run.questions.get(), reviewer)
    finish(worker)
    run.refresh_from_db()
    trusted = role in (roles.OWNER, roles.REVIEWER)
    assert (run.state, run.code) == (("completed", "") if trusted else ("failed", "safety-trust"))


STEPS = """
id: flow
version: 1.0.0
steps:
  - {id: first, uses: data.echo, input: {value: 1}}
  - {id: turn, uses: key.turn, input: {value: now}}
"""


@pytest.mark.parametrize("trust", [roles.PRIVILEGED, roles.STANDARD])
def test_a_run_that_a_worker_holds_loses_the_trust_that_its_agent_loses(
    project: Project,
    capabilities: Callable[..., None],
    workflow: Callable[..., str],
    worker: RunWorker,
    operator: Actor,
    monkeypatch: pytest.MonkeyPatch,
    trust: str,
) -> None:
    monkeypatch.setattr(capability_registry, "_LIVE_SECONDS", 0.0)
    capabilities(key=TRUSTED)
    bot = ensure_agent(project, "bot", by=operator)
    agents.amend(project, "bot", {"trust": roles.PRIVILEGED}, by=operator)
    run = runs.start(project, workflow(STEPS), by=permissions.agent(bot, frozenset({roles.READ, roles.RUN})))
    assert worker.work()
    assert run.steps.get().state == "running"
    agents.amend(project, "bot", {"trust": trust}, by=operator)
    finish(worker)
    run.refresh_from_db()
    assert (run.state, run.code) == (("completed", "") if trust == roles.PRIVILEGED else ("failed", "safety-trust"))


@pytest.mark.parametrize("role", [roles.VIEWER, roles.AUTHOR, None])
def test_an_approval_of_somebody_who_reviews_no_longer_does_not_count(
    project: Project, asking: Callable[..., RunQuestion], operator: Actor, reviewer: Actor, role: str | None
) -> None:
    question = asking(APPROVE, "{approvers: {count: 2}}")
    former = _person(project, "former", roles.REVIEWER, operator)
    _approve(question, former)
    user = User.objects.get(username="former")
    if role is None:
        members.remove(project, user, by=operator)
    else:
        members.set_role(project, user, role, by=operator)
    _approve(question, reviewer)
    question.refresh_from_db()
    assert question.state == "open"
    _approve(question, _person(project, "third", roles.OWNER, operator))
    question.refresh_from_db()
    assert question.state == "approved"
