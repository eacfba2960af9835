"""The trace of a run from its records."""

from registry.core.workflows import workflow_yaml
from registry.core.workflows.plan import Plan
from registry.core.workflows.records import Shape, StepRecord, StepState
from registry.core.workflows.run_trace import Times, trace_of
from registry.core.workflows.run_tree import ROOT, Library
from registry.core.workflows.trace import TraceWrite, lineage

TEXT = """
id: flow
version: 1.0.0
inputs: {names: {type: array}}
outputs: {all: {type: array}}
steps:
  - id: many
    uses: text.template
    input: {template: "Hello", variables: {name: item, more: vars.more}}
    output: {text: vars.texts}
    config: {foreach: {items: inputs.names}, depends_on: []}
  - id: copy
    uses: data.echo
    input: {value: vars.texts}
    output: {value: outputs.all}
  - id: child
    uses: "skill:other"
    output: {found: vars.found}
    config: {depends_on: []}
"""


def plan(text: str = TEXT) -> Plan:
    parsed = workflow_yaml.parse(text.encode()).plan
    assert parsed is not None
    return parsed


def record(path: str, began: int, ended: int | None, shape: Shape = Shape.CALL, **more: object) -> StepRecord:
    step = path.rpartition("/")[2].partition("[")[0]
    state = StepState.RUNNING if ended is None else StepState.COMPLETED
    return StepRecord(path, step, shape, state, began, ended=ended, uses="data.echo", attempts=1, **more)  # type: ignore[arg-type]


FOREACH = [
    record("many", 1, 6, Shape.FOREACH, writes=("vars.texts",)),
    record("many[0]", 2, 5, reads=("vars.more",)),
    record("many[1]", 3, 4, reads=("vars.more",)),
    record("copy", 7, 8, reads=("vars.texts",), writes=("outputs.all",)),
]


def test_a_trace_is_in_the_order_in_which_steps_ended() -> None:
    found = trace_of(Library("", {ROOT: plan()}), FOREACH, {})
    assert [step.path for step in found] == ["many[1]", "many[0]", "many", "copy"]


def test_a_foreach_reads_its_items_and_what_its_calls_read() -> None:
    group = trace_of(Library("", {ROOT: plan()}), FOREACH, {})[2]
    assert group.reads == ("vars.more", "inputs.names")
    assert group.writes == (TraceWrite("vars.texts", "overwrite", "text"),)


def test_a_step_that_has_not_ended_is_not_in_the_trace() -> None:
    assert trace_of(Library("", {ROOT: plan()}), [record("copy", 1, None)], {}) == ()


def test_a_declared_target_that_was_not_written_is_not_in_the_trace() -> None:
    [step] = trace_of(Library("", {ROOT: plan()}), [record("copy", 1, 2)], {})
    assert step.writes == ()


def test_a_trace_has_the_times_of_its_steps() -> None:
    [step] = trace_of(Library("", {ROOT: plan()}), [record("copy", 1, 2)], {"copy": Times("a", "b", 5)})
    assert (step.started_at, step.ended_at, step.latency_ms) == ("a", "b", 5)


def test_a_call_read_only_what_was_recorded_before_it_began() -> None:
    found = trace_of(Library("", {ROOT: plan()}), [record("many", 1, 4, Shape.FOREACH), record("copy", 2, 3)], {})
    assert [(step.path, step.read_after) for step in found] == [("copy", 0), ("many", 0)]


def test_the_lineage_of_an_output_leads_through_a_foreach() -> None:
    found = lineage(trace_of(Library("", {ROOT: plan()}), FOREACH, {}), "outputs.all")
    assert [step.path for step in found] == ["many", "copy"]


def test_the_lineage_leads_into_the_attempt_of_a_nested_skill() -> None:
    nested = plan(
        "id: other\nversion: 1.0.0\noutputs: {found: {type: string}}\nsteps:\n"
        "  - id: look\n    uses: data.echo\n    input: {value: 1}\n    output: {value: outputs.found}\n"
    )
    library = Library("", {ROOT: plan(), "other": nested})
    child = record("child", 1, 4, Shape.NESTED, writes=("vars.found",))
    child.uses = "skill:other"
    found = trace_of(library, [child, record("child/look", 2, 3, writes=("outputs.found",))], {})
    assert found[0].writes == (TraceWrite("outputs.found", "overwrite", "value"),)
    assert [step.path for step in lineage(found, "vars.found")] == ["child/look", "child"]
