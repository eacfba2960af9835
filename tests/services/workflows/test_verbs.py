"""Every verb of runs: one event, no step of the revision, and no effect without permission."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from registry.core import roles
from registry.core.errors import Forbidden, NotFound
from registry.models import Event, Project, Run, RunQuestion
from registry.services import permissions
from registry.services.people import accounts, members
from registry.services.permissions import Actor
from registry.services.workflows import questions, runs
from registry.services.workflows.run_worker import RunWorker
from tests.prepared import ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.services.verbs import public_verbs
from tests.services.workflows.conftest import finish

MODULES = ("runs", "questions")
ASKING = {"runs.trust_of", "runs.find", "runs.visible", "questions.may_decide"}
IN_THE_SWEEP = {"questions.expire"}

ASKS = """
id: letter
version: 1.0.0
inputs: {}
outputs: {}
steps:
  - {id: sign, uses: human.approve, input: {question: "Send it?"}, config: {depends_on: []}}
  - id: address
    uses: human.input
    input: {question: "Where to?", fields: {city: {type: string, required: true}}}
    config: {depends_on: []}
"""
SHORT = """
id: short
version: 1.0.0
inputs: {}
outputs: {}
steps: [{id: echo, uses: data.echo, input: {value: 1}}]
"""


@dataclass(frozen=True)
class World:
    """A project with a run that asks for an approval and for an input, and a run that has ended."""

    project: Project
    waiting: Run
    ended: Run
    approval: RunQuestion
    form: RunQuestion


@pytest.fixture
def world(project: Project, workflow: Callable[..., str], operator: Actor, worker: RunWorker) -> World:
    waiting = runs.start(project, workflow(ASKS, "letter"), by=operator)
    ended = runs.start(project, workflow(SHORT, "short"), by=operator)
    finish(worker)
    ended.refresh_from_db()
    assert ended.state == "completed"
    return World(project, waiting, ended, waiting.questions.get(path="sign"), waiting.questions.get(path="address"))


Call = Callable[[World, Actor], object]


def _approve(world: World, by: Actor) -> object:
    return questions.approve(
        world.project, world.waiting.pk, world.approval.pk, digest=world.approval.digest, by=by
    )  # fmt: skip


def _deny(world: World, by: Actor) -> object:
    return questions.deny(world.project, world.waiting.pk, world.approval.pk, digest=world.approval.digest, by=by)


def _answer(world: World, by: Actor) -> object:
    return questions.answer(
        world.project, world.waiting.pk, world.form.pk, digest=world.form.digest, value={"city": "Bonn"}, by=by
    )


# The call, its event, the name of what the event is about, and the scope that it needs.
VERBS: dict[str, tuple[Call, str, str, str]] = {
    "runs.start": (lambda w, by: runs.start(w.project, "letter", by=by), "run.started", "letter", roles.RUN),
    "runs.start_call": (
        lambda w, by: runs.start_call(w.project, "data.echo", inputs={"value": 1}, by=by),
        "run.started", "data.echo", roles.RUN),
    "runs.cancel": (
        lambda w, by: runs.cancel(w.project, w.waiting.pk, by=by), "run.cancelled", "letter", roles.RUN),
    "runs.replay": (lambda w, by: runs.replay(w.project, w.ended.pk, by=by), "run.replayed", "short", roles.RUN),
    "questions.approve": (_approve, "question.approved", "letter", roles.REVIEW),
    "questions.deny": (_deny, "question.denied", "letter", roles.REVIEW),
    "questions.answer": (_answer, "question.answered", "letter", roles.REVIEW),
}  # fmt: skip


def test_no_verb_was_forgotten() -> None:
    found = {name for name, _ in public_verbs() if name.partition(".")[0] in MODULES}
    assert found - ASKING - IN_THE_SWEEP == VERBS.keys()


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_leaves_one_event_and_the_revision_as_it_is(world: World, reviewer: Actor, name: str) -> None:
    call, verb, target, _ = VERBS[name]
    revision, events = Project.objects.get(pk=world.project.pk).revision, Event.objects.count()
    call(world, reviewer)
    assert (Project.objects.get(pk=world.project.pk).revision, Event.objects.count()) == (revision, events + 1)
    event = Event.objects.order_by("-pk")[0]
    assert (event.verb, event.actor_name, event.target) == (verb, "reviewer", target)
    assert (event.user_id, event.chain.project) == (reviewer.user_id, world.project)
    assert "run" in event.data


@pytest.mark.parametrize("name", VERBS)
def test_without_the_scope_a_verb_is_refused_and_changes_nothing(
    world: World, viewer: Actor, author: Actor, name: str
) -> None:
    call, _, _, scope = VERBS[name]
    by = author if scope == roles.REVIEW else viewer
    with nothing_left_behind(), pytest.raises(Forbidden) as refused:
        call(world, by)
    assert refused.value.data == {"scope": scope}


@pytest.mark.parametrize("name", VERBS)
def test_a_person_of_another_project_gets_not_found(
    world: World, other_project: Project, operator: Actor, name: str
) -> None:
    user = accounts.create_user("stranger", by=operator)
    members.set_role(other_project, user, roles.OWNER, by=operator)
    with nothing_left_behind(), pytest.raises(NotFound) as refused:
        VERBS[name][0](world, permissions.person(user, other_project))
    assert "letter" not in refused.value.message


@pytest.mark.parametrize("name", [name for name, verb in VERBS.items() if verb[3] == roles.REVIEW])
def test_no_agent_answers_a_question(world: World, operator: Actor, name: str) -> None:
    bot = permissions.agent(ensure_agent(world.project, "bot", by=operator), frozenset(roles.SCOPES))
    with nothing_left_behind(), pytest.raises((Forbidden, NotFound)):
        VERBS[name][0](world, bot)
