"""Starting, cancelling and replaying runs, and everything that is refused."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from registry.core import roles
from registry.core.errors import AlreadyDecided, Forbidden, InvalidRequest, NotFound, TooLarge
from registry.models import Event, Project, Run, RunBlob
from registry.services import permissions
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.skills import quarantine, skills
from registry.services.workflows import questions, run_sweep, runs, stored_values
from registry.services.workflows.run_worker import RunWorker
from registry.services.workflows.runs import Options
from tests.conftest import skill_bundle
from tests.prepared import ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.services.workflows.conftest import CHAIN, finish, states

GATED = """
id: gated
version: 1.0.0
outputs: {text: {type: string, required: true}}
steps:
  - {id: write, uses: data.echo, input: {value: draft}, output: {value: vars.text}}
  - {id: approve, uses: human.approve, input: {question: "Publish?"}}
  - {id: publish, uses: data.echo, input: {value: vars.text}, output: {value: outputs.text}}
"""
NESTED = """
id: outer
version: 1.0.0
outputs: {text: {type: string, required: true}}
steps:
  - {id: inner, uses: "skill:inner", input: {name: Ada}, output: {text: outputs.text}}
"""
ITSELF = "id: flow\nversion: 1.0.0\nsteps: [{id: again, uses: 'skill:flow'}]\n"


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def after(run: Run, worker: RunWorker) -> str:
    finish(worker)
    run.refresh_from_db()
    return run.state


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "name"),
        ({"name": 1}, "string"),
        ({"name": None}, "name"),
        ({"name": "Ada", "nmae": "x"}, "nmae"),
        ({"name": float("nan")}, "not JSON"),
        ({"name": nested(100)}, "deeper than 100 levels"),
        ({"name": nested(5_000)}, "deeper than 100 levels"),
    ],
)
def test_wrong_inputs_start_nothing(
    project: Project, workflow: Callable[..., str], author: Actor, inputs: Any, message: str
) -> None:
    name = workflow(CHAIN)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match=message) as refused:
        runs.start(project, name, inputs=inputs, by=author)
    assert refused.value.field == "inputs"


def test_inputs_have_a_limit(project: Project, workflow: Callable[..., str], author: Actor) -> None:
    name = workflow(CHAIN)
    with nothing_left_behind(), pytest.raises(TooLarge, match="262,144 are allowed"):
        runs.start(project, name, inputs={"name": "x" * 262_144}, by=author)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (Options(max_workers=0), "max_workers"),
        (Options(max_workers=501), "max_workers"),
        (Options(deadline_seconds=0.5), "deadline_seconds"),
        (Options(deadline_seconds=1e9), "deadline_seconds"),
    ],
)
def test_wrong_options_start_nothing(
    project: Project, workflow: Callable[..., str], author: Actor, options: Options, field: str
) -> None:
    name = workflow(CHAIN)
    with nothing_left_behind(), pytest.raises(InvalidRequest) as refused:
        runs.start(project, name, inputs={"name": "Ada"}, options=options, by=author)
    assert refused.value.field == field


@pytest.mark.parametrize("frame", [{"goal": 1}, {"gaol": "x"}, {"constraints": []}])
def test_a_wrong_frame_starts_nothing(
    project: Project, workflow: Callable[..., str], author: Actor, frame: Any
) -> None:
    name = workflow(CHAIN)
    with nothing_left_behind(), pytest.raises(InvalidRequest) as refused:
        runs.start(project, name, inputs={"name": "Ada"}, frame=frame, by=author)
    assert refused.value.field == "frame"
    assert str(refused.value).count("The frame cannot be used") <= 1


def test_a_skill_without_a_workflow_cannot_run(project: Project, operator: Actor, author: Actor) -> None:
    skills.create(project, skill_bundle("prose"), by=operator)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="no workflow"):
        runs.start(project, "prose", by=author)


def test_a_skill_that_agents_do_not_get_cannot_run(
    project: Project, workflow: Callable[..., str], operator: Actor, author: Actor
) -> None:
    off, held, gone = workflow(CHAIN, "off"), workflow(CHAIN, "held"), workflow(CHAIN, "gone")
    skills.disable(project, off, by=operator)
    quarantine.quarantine(project, held, "1", reason="Odd.", by=operator)
    skills.delete(project, gone, by=operator)
    for name in (off, held, gone, "never"):
        with nothing_left_behind(), pytest.raises(NotFound):
            runs.start(project, name, inputs={"name": "Ada"}, by=author)


def test_an_agent_starts_only_the_skills_on_its_list(
    project: Project, workflow: Callable[..., str], operator: Actor
) -> None:
    mine, other = workflow(CHAIN, "mine"), workflow(CHAIN, "other")
    agent = ensure_agent(project, "bot", by=operator)
    agents.amend(project, agent.name, {"allowed_skills": [mine]}, by=operator)
    agent.refresh_from_db()
    bot = permissions.agent(agent, frozenset({roles.READ, roles.RUN}))
    assert runs.start(project, mine, inputs={"name": "Ada"}, by=bot).state == "queued"
    with nothing_left_behind(), pytest.raises(NotFound):
        runs.start(project, other, inputs={"name": "Ada"}, by=bot)


def test_an_agent_does_not_see_the_runs_of_others(
    project: Project, workflow: Callable[..., str], author: Actor, operator: Actor
) -> None:
    run = runs.start(project, workflow(CHAIN), inputs={"name": "Ada"}, by=author)
    bot = permissions.agent(ensure_agent(project, "bot", by=operator), frozenset({roles.READ, roles.RUN}))
    for verb in (runs.find, runs.cancel, runs.replay):
        with nothing_left_behind(), pytest.raises(NotFound):
            verb(project, run.pk, by=bot)


def test_a_circle_of_skills_is_named(project: Project, workflow: Callable[..., str], author: Actor) -> None:
    name = workflow(CHAIN)
    base = project.skills.get(name=name).versions.get().digest
    skills.save(project, name, skill_bundle(name, {"workflow.yaml": ITSELF.encode()}), base=base, by=author)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="flow → flow"):
        runs.start(project, "flow", by=author)


def test_a_missing_nested_skill_is_named(
    project: Project, workflow: Callable[..., str], operator: Actor, author: Actor
) -> None:
    workflow(CHAIN, "inner")
    workflow(NESTED, "outer")
    skills.disable(project, "inner", by=operator)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="skill:inner"):
        runs.start(project, "outer", by=author)


def test_the_lock_keeps_the_plan_of_the_start(
    project: Project, workflow: Callable[..., str], operator: Actor, author: Actor, worker: RunWorker
) -> None:
    """A run that started before a new version, or before its nested skill was deleted, ends as it began."""
    workflow(CHAIN, "inner")
    run = runs.start(project, workflow(NESTED, "outer"), by=author)
    skills.delete(project, "inner", by=operator)
    assert after(run, worker) == "completed"
    assert stored_values.unpack(run.outputs) == {"text": "Hello Ada"}


def test_runs_of_one_version_share_their_lock(project: Project, workflow: Callable[..., str], author: Actor) -> None:
    name = workflow(CHAIN)
    one, two = (runs.start(project, name, inputs={"name": each}, by=author) for each in ("Ada", "Bo"))
    assert one.lock_id == two.lock_id


def test_a_project_has_a_limit_of_unfinished_runs(
    project: Project, workflow: Callable[..., str], author: Actor, worker: RunWorker, settings: Any
) -> None:
    settings.WORKFLOW_UNFINISHED_RUNS = 1
    name = workflow(CHAIN)
    runs.start(project, name, inputs={"name": "Ada"}, by=author)
    with nothing_left_behind(), pytest.raises(TooLarge, match="1 unfinished"):
        runs.start(project, name, inputs={"name": "Bo"}, by=author)
    finish(worker)
    runs.start(project, name, inputs={"name": "Bo"}, by=author)


def test_a_waiting_run_is_cancelled_and_its_question_withdrawn(
    project: Project, workflow: Callable[..., str], author: Actor, worker: RunWorker
) -> None:
    run = runs.start(project, workflow(GATED), by=author)
    assert after(run, worker) == "waiting"
    runs.cancel(project, run.pk, by=author)
    assert after(run, worker) == "cancelled"
    assert states(run) == {"write": "completed", "approve": "cancelled"}
    assert run.questions.get().state == "withdrawn"
    with nothing_left_behind(), pytest.raises(AlreadyDecided, match="already cancelled"):
        runs.cancel(project, run.pk, by=author)


def test_to_cancel_twice_before_the_worker_looks_is_one_event(
    project: Project, workflow: Callable[..., str], author: Actor
) -> None:
    run = runs.start(project, workflow(GATED), by=author)
    runs.cancel(project, run.pk, by=author)
    with nothing_left_behind():
        runs.cancel(project, run.pk, by=author)


def test_a_replay_keeps_outputs_and_asks_again(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    first = runs.start(project, workflow(GATED), by=author)
    finish(worker)
    question = first.questions.get()
    questions.approve(project, first.pk, question.pk, digest=question.digest, by=reviewer)
    assert after(first, worker) == "completed"
    again = runs.replay(project, first.pk, start_at="approve", by=author)
    assert states(again) == {"write": "completed"}
    assert after(again, worker) == "waiting"
    asked = again.questions.get()
    questions.approve(project, again.pk, asked.pk, digest=asked.digest, by=reviewer)
    assert after(again, worker) == "completed"
    assert (again.outputs, again.state_digest) == (first.outputs, first.state_digest)
    assert again.replay_of == first


def test_a_replay_of_everything_calls_nothing(
    project: Project, workflow: Callable[..., str], author: Actor, worker: RunWorker
) -> None:
    first = runs.start(project, workflow(CHAIN), inputs={"name": "Ada"}, by=author)
    finish(worker)
    first.refresh_from_db()
    again = runs.replay(project, first.pk, by=author)
    assert after(again, worker) == "completed"
    assert again.state_digest == first.state_digest


def test_a_replay_is_refused_for_a_running_run_and_an_unknown_step(
    project: Project, workflow: Callable[..., str], author: Actor, worker: RunWorker
) -> None:
    run = runs.start(project, workflow(GATED), by=author)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="Only a finished run"):
        runs.replay(project, run.pk, by=author)
    runs.cancel(project, run.pk, by=author)
    finish(worker)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="write, approve, publish") as refused:
        runs.replay(project, run.pk, start_at="aprove", by=author)
    assert refused.value.field == "from"


def test_a_replay_is_refused_for_somebody_who_may_not_start_runs(
    project: Project, workflow: Callable[..., str], author: Actor, viewer: Actor, worker: RunWorker
) -> None:
    run = runs.start(project, workflow(CHAIN), inputs={"name": "Ada"}, by=author)
    finish(worker)
    with nothing_left_behind(), pytest.raises(Forbidden):
        runs.replay(project, run.pk, by=viewer)


def test_the_trust_of_a_person_is_that_of_the_role(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Actor, owner: Actor
) -> None:
    name = workflow(CHAIN)
    found = [runs.start(project, name, inputs={"name": "A"}, by=by).trust for by in (author, reviewer, owner)]
    assert found == [roles.STANDARD, roles.ELEVATED, roles.PRIVILEGED]


def test_a_large_value_is_a_file_and_comes_back(
    project: Project, workflow: Callable[..., str], author: Actor, worker: RunWorker
) -> None:
    name = "x" * 100_000
    run = runs.start(project, workflow(CHAIN), inputs={"name": name}, by=author)
    assert set(run.inputs) == {"$blob", "size"}
    assert after(run, worker) == "completed"
    assert stored_values.unpack(run.outputs) == {"text": f"Hello {name}"}
    assert run.blobs.count() >= 2


def test_a_value_that_looks_like_a_reference_to_a_file_is_none(
    project: Project, workflow: Callable[..., str], author: Actor, worker: RunWorker
) -> None:
    """A caller cannot read a file of the storage by its digest."""
    stranger = {"$blob": "0" * 64, "size": 1}
    run = runs.start_call(project, "data.echo", inputs={"value": stranger}, by=author)
    assert after(run, worker) == "completed"
    assert stored_values.unpack(run.outputs) in ({}, {"value": stranger})
    assert stored_values.unpack(run.steps.get().output) == {"value": stranger}


def test_the_sweep_wakes_a_run_that_nothing_else_would(
    project: Project, workflow: Callable[..., str], author: Actor, worker: RunWorker
) -> None:
    run = runs.start(project, workflow(CHAIN), inputs={"name": "Ada"}, by=author)
    Run.objects.filter(pk=run.pk).update(wake_at=None)
    assert after(run, worker) == "queued"
    now = worker.clock.now()
    assert run_sweep.wake_stuck(now=now) == 0
    Run.objects.filter(pk=run.pk).update(created_at=now.replace(year=now.year - 1))
    assert run_sweep.wake_stuck(now=now) == 1
    assert after(run, worker) == "completed"


def test_the_sweep_leaves_runs_that_wait_for_a_person(
    project: Project, workflow: Callable[..., str], author: Actor, worker: RunWorker
) -> None:
    run = runs.start(project, workflow(GATED), by=author)
    finish(worker)
    now = worker.clock.now()
    Run.objects.filter(pk=run.pk).update(created_at=now.replace(year=now.year - 1))
    assert run_sweep.wake_stuck(now=now) == 0


def test_old_runs_are_deleted_and_unfinished_ones_never(
    project: Project, workflow: Callable[..., str], author: Actor, worker: RunWorker, settings: Any
) -> None:
    done = runs.start(project, workflow(CHAIN), inputs={"name": "x" * 100_000}, by=author)
    waiting = runs.start(project, workflow(GATED, "gated"), by=author)
    finish(worker)
    soon = worker.clock.now() + timedelta(days=settings.WORKFLOW_KEEP_DAYS)
    assert run_sweep.delete_old(now=soon - timedelta(minutes=1)) == 0
    assert run_sweep.delete_old(now=soon + timedelta(minutes=1)) == 1
    assert list(Run.objects.values_list("pk", flat=True)) == [waiting.pk]
    assert not RunBlob.objects.filter(run=done.pk).exists()
    assert Event.objects.filter(verb="run.completed").exists()
