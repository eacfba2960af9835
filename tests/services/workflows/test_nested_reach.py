"""Nested skills: a list of skills, a quarantine and a deletion hold for them too, also when a run is replayed."""

from collections.abc import Callable

import pytest

from registry.core import roles
from registry.core.errors import InvalidRequest, NotFound
from registry.models import Project, Run
from registry.services import permissions
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.skills import quarantine, skills
from registry.services.workflows import runs
from registry.services.workflows.run_worker import RunWorker
from tests.prepared import ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.services.workflows.conftest import CHAIN, finish

OUTER = """
id: outer
version: 1.0.0
outputs: {text: {type: string}}
steps:
  - {id: inner, uses: "USES", input: {name: Ada}, output: {text: outputs.text}}
"""
WRAPPED = """
id: letter.greet
version: 1.0.0
description: Greets somebody.
inputs: {name: {type: string, required: true}}
outputs: {text: {type: string}}
properties: {side_effects: false}
safety: {trust_level: sandbox}
binding: {kind: skill, name: inner}
"""
USES = pytest.mark.parametrize("uses", ["skill:inner", "letter.greet"])


@pytest.fixture(autouse=True)
def inner(capabilities: Callable[..., None], workflow: Callable[..., str]) -> None:
    capabilities(wrapped=WRAPPED)
    workflow(CHAIN, "inner")


def _limited(project: Project, names: list[str], by: Actor) -> Actor:
    """Return an agent with a list of skills."""
    agent = ensure_agent(project, "bot", by=by)
    agents.amend(project, agent.name, {"allowed_skills": names}, by=by)
    agent.refresh_from_db()
    return permissions.agent(agent, frozenset({roles.READ, roles.RUN}))


@USES
def test_a_nested_skill_outside_the_list_of_an_agent_does_not_run(
    project: Project, workflow: Callable[..., str], operator: Actor, uses: str
) -> None:
    name = workflow(OUTER.replace("USES", uses), "outer")
    bot = _limited(project, [name], operator)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="which cannot be used") as refused:
        runs.start(project, name, by=bot)
    skills.delete(project, "inner", by=operator)
    with pytest.raises(InvalidRequest) as missing:
        runs.start(project, name, by=bot)
    assert missing.value.message == refused.value.message


@USES
def test_a_nested_skill_on_the_list_runs(
    project: Project, workflow: Callable[..., str], operator: Actor, worker: RunWorker, uses: str
) -> None:
    name = workflow(OUTER.replace("USES", uses), "outer")
    run = runs.start(project, name, by=_limited(project, [name, "inner"], operator))
    finish(worker)
    assert Run.objects.get(pk=run.pk).outputs == {"text": "Hello Ada"}


@USES
def test_a_replay_after_a_nested_skill_left_the_list_is_refused(
    project: Project, workflow: Callable[..., str], operator: Actor, worker: RunWorker, uses: str
) -> None:
    name = workflow(OUTER.replace("USES", uses), "outer")
    run = runs.start(project, name, by=_limited(project, [name, "inner"], operator))
    called = runs.start_call(project, "letter.greet", inputs={"name": "Ada"}, by=_limited(project, ["inner"], operator))
    finish(worker)
    bot = _limited(project, [name], operator)
    for each, step in ((run, "inner"), (called, "call")):
        with nothing_left_behind(), pytest.raises(NotFound):
            runs.replay(project, each.pk, start_at=step, by=bot)


@USES
@pytest.mark.parametrize("withdraw", ["quarantine", "delete", "disable"])
def test_a_replay_of_a_nested_skill_that_was_withdrawn_is_refused(
    project: Project,
    workflow: Callable[..., str],
    operator: Actor,
    author: Actor,
    worker: RunWorker,
    uses: str,
    withdraw: str,
) -> None:
    run = runs.start(project, workflow(OUTER.replace("USES", uses), "outer"), by=author)
    finish(worker)
    if withdraw == "quarantine":
        quarantine.quarantine(project, "inner", "1", reason="Odd.", by=operator)
    else:
        getattr(skills, withdraw)(project, "inner", by=operator)
    with nothing_left_behind(), pytest.raises(NotFound):
        runs.replay(project, run.pk, start_at="inner", by=author)
