"""Everything that is shown of one run."""

from collections.abc import Callable

import pytest
from django.test.utils import CaptureQueriesContext

from registry.core.errors import NotFound, TooLarge
from registry.models import Project, Run, RunQuestion
from registry.services.permissions import Actor
from registry.services.workflows import questions, run_details, runs
from registry.services.workflows.run_worker import RunWorker
from tests.services.workflows.conftest import CHAIN, finish

ASKS = """
id: ask
version: 1.0.0
steps:
  - id: sure
    uses: human.approve
    input: {question: "Is this right?"}
    config: {approvers: {count: 2}}
"""
LARGE = """
id: large
version: 1.0.0
inputs: {text: {type: string, required: true}}
outputs: {value: {type: string}}
steps:
  - id: copy
    uses: data.echo
    input: {value: inputs.text}
    output: {value: outputs.value}
"""
WIDE = """
id: wide
version: 1.0.0
inputs: {items: {type: array, required: true}, text: {type: string, required: true}}
steps:
  - id: each
    uses: data.echo
    input: {value: inputs.text}
    config: {foreach: {items: inputs.items}}
"""
Workflow = Callable[..., str]


@pytest.fixture
def chain(project: Project, workflow: Workflow, author: Actor, worker: RunWorker) -> Run:
    run = runs.start(project, workflow(CHAIN), inputs={"name": "Ada"}, by=author)
    finish(worker)
    return run


@pytest.fixture
def asking(project: Project, workflow: Workflow, author: Actor, worker: RunWorker) -> Run:
    run = runs.start(project, workflow(ASKS), by=author)
    finish(worker)
    return run


def test_details_have_steps_values_and_the_lock(project: Project, chain: Run, author: Actor) -> None:
    found = run_details.details(project, chain.pk, by=author)
    assert [step.row.path for step in found.steps] == ["render", "copy"]
    assert found.steps[0].input.value == {"template": "Hello {{name}}", "variables": {"name": "Ada"}}
    assert (found.inputs.value, found.outputs.value) == ({"name": "Ada"}, {"text": "Hello Ada"})
    assert found.lock["skill"]["name"] == "flow"
    assert set(found.lock["capabilities"]) == {"text.template", "data.echo"}
    assert [step.path for step in found.trace] == ["render", "copy"]


def test_details_cost_a_fixed_number_of_queries(
    project: Project, chain: Run, author: Actor, django_assert_num_queries: Callable[[int], CaptureQueriesContext]
) -> None:
    with django_assert_num_queries(4):
        run_details.details(project, chain.pk, by=author)


def test_large_values_are_left_out_but_can_be_read_alone(
    project: Project, workflow: Workflow, author: Actor, worker: RunWorker
) -> None:
    run = runs.start(project, workflow(LARGE), inputs={"text": "a" * 40_000}, by=author)
    finish(worker)
    found = run_details.details(project, run.pk, by=author)
    assert (found.outputs.value, found.outputs.is_omitted, found.outputs.chars) == (None, True, 40_012)
    assert found.steps[0].output.is_omitted
    assert run_details.step_values(project, run.pk, "copy", by=author)["output"] == {"value": "a" * 40_000}


def test_many_values_are_left_out_together(
    project: Project, workflow: Workflow, author: Actor, worker: RunWorker
) -> None:
    inputs = {"items": list(range(90)), "text": "a" * 15_000}
    run = runs.start(project, workflow(WIDE), inputs=inputs, by=author)
    finish(worker)
    found = run_details.details(project, run.pk, by=author)
    assert found.total_steps == 91
    shown = sum(step.input.chars or 0 for step in found.steps if not step.input.is_omitted)
    assert 400_000 < shown < 1_100_000
    assert found.steps[-1].input.is_omitted


def test_steps_come_in_pages(project: Project, chain: Run, author: Actor) -> None:
    found = run_details.details(project, chain.pk, first=1, most=1, by=author)
    assert ([step.row.path for step in found.steps], found.total_steps) == (["copy"], 2)


def test_a_step_that_does_not_exist_has_no_values(project: Project, chain: Run, author: Actor) -> None:
    with pytest.raises(NotFound):
        run_details.step_values(project, chain.pk, "nowhere", by=author)


def test_the_state_is_rebuilt_from_the_records(project: Project, chain: Run, author: Actor) -> None:
    state = run_details.state_of(project, chain.pk, by=author)
    assert (state["vars"], state["outputs"]) == ({"text": "Hello Ada"}, {"text": "Hello Ada"})


def test_the_state_of_a_very_long_run_is_refused(
    project: Project, chain: Run, author: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_details, "MOST_REBUILT", 1)
    monkeypatch.setattr(run_details, "MOST_TRACED", 1)
    with pytest.raises(TooLarge):
        run_details.state_of(project, chain.pk, by=author)
    with pytest.raises(TooLarge):
        run_details.lineage_of(project, chain.pk, "outputs.text", by=author)


def test_lineage_names_the_steps_behind_an_output(project: Project, chain: Run, author: Actor) -> None:
    found = run_details.lineage_of(project, chain.pk, "outputs.text", by=author)
    assert [step.path for step in found] == ["render", "copy"]


def test_a_run_of_another_project_does_not_exist(other_project: Project, chain: Run, operator: Actor) -> None:
    with pytest.raises(NotFound):
        run_details.details(other_project, chain.pk, by=operator)


def test_a_question_says_why_somebody_cannot_answer_it(
    project: Project, asking: Run, author: Actor, reviewer: Actor, owner: Actor
) -> None:
    def obstacle(by: Actor) -> str:
        [question] = run_details.details(project, asking.pk, by=by).open_questions
        return question.obstacle

    assert "reviewers" in obstacle(author)
    assert obstacle(reviewer) == obstacle(owner) == ""
    question = RunQuestion.objects.get()
    questions.approve(project, asking.pk, question.pk, digest=question.digest, by=reviewer)
    assert "already" in obstacle(reviewer)
    [shown] = run_details.details(project, asking.pk, by=owner).open_questions
    assert (shown.approved_by, shown.obstacle) == (("reviewer",), "")


def test_nobody_can_approve_their_own_run(
    project: Project, workflow: Workflow, reviewer: Actor, worker: RunWorker
) -> None:
    run = runs.start(project, workflow(ASKS), by=reviewer)
    finish(worker)
    [question] = run_details.details(project, run.pk, by=reviewer).open_questions
    assert "your own run" in question.obstacle


def test_each_thing_that_happens_changes_the_count(
    project: Project, asking: Run, reviewer: Actor, owner: Actor, author: Actor, worker: RunWorker
) -> None:
    def changes() -> int:
        return Run.objects.values_list("changes", flat=True).get(pk=asking.pk)

    question, counts = RunQuestion.objects.get(), [changes()]
    for by in (reviewer, owner):
        questions.approve(project, asking.pk, question.pk, digest=question.digest, by=by)
        counts.append(changes())
    finish(worker)
    counts.append(changes())
    assert counts == sorted(set(counts))
