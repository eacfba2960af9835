"""State: reading, the merge strategies, typed slots and refusals."""

import re

import pytest

from registry.core.workflows.outputs import Write
from registry.core.workflows.plan import APPEND, DEEP_MERGE, OVERWRITE, REPLACE, STRATEGIES
from registry.core.workflows.references import NAMESPACES, Unreadable
from registry.core.workflows.state import WORKING_SLOTS, WRITABLE, State, StateError
from registry.core.workflows.values import Json

LIST_SLOTS = [name for name, type_ in WORKING_SLOTS.items() if type_ == "array"]


def at(target: str) -> tuple[str, ...]:
    return tuple(target.split("."))


def after(*writes: tuple[str, str, Json], inputs: dict[str, Json] | None = None) -> State:
    """Return a state after one step for each write: target, strategy, value. The steps are called s1, s2, …."""
    state = State(inputs or {})
    for number, (target, strategy, value) in enumerate(writes, 1):
        state.apply([Write(target, value, strategy)], step=f"s{number}")
    return state


def refused(state: State, target: str, value: Json, strategy: str = OVERWRITE, *, step: str = "last") -> str:
    """Return the message of a refused write, which changed nothing."""
    before = state.as_json()
    with pytest.raises(StateError) as caught:
        state.apply([Write(target, value, strategy)], step=step)
    assert state.as_json() == before
    assert str(caught.value).startswith(f"Step “{step}” cannot write {target}: ")
    return str(caught.value)


class TestReading:
    def test_paths_go_through_keys_and_items_everywhere(self) -> None:
        deep = {"list": [{"name": "a"}, {"name": "b"}]}
        frame = {"context": deep, "assumptions": [deep]}
        state = State({"deep": deep}, frame)
        targets = ["vars.deep", "outputs.deep", "working.artifacts.deep", "output.result", "extensions.x.deep"]
        state.apply([Write(target, deep, OVERWRITE) for target in targets], step="s")
        for start in ("inputs.deep", "frame.context", "frame.assumptions.0", *targets):
            assert state.read(at(f"{start}.list.1.name")) == "b"
            assert state.read(at(f"{start}.list.-2")) == {"name": "a"}

    @pytest.mark.parametrize("path", ["inputs.x", "inputs.x.y", "frame.x", "output.summary", "extensions.x.0"])
    def test_a_missing_value_is_null_where_nobody_has_to_write_it(self, path: str) -> None:
        assert State({}).read(at(path)) is None

    @pytest.mark.parametrize("path", ["vars.x", "outputs.x.y", "working.artifacts.x", "working.risks.0", "working.x"])
    def test_a_missing_value_cannot_be_read_where_a_step_has_to_write_it(self, path: str) -> None:
        with pytest.raises(Unreadable, match=re.escape(path.rpartition(".")[2])):
            after(("outputs.x", OVERWRITE, 1)).read(at(path))

    @pytest.mark.parametrize("path", [("trace", "steps"), ("item",), ("",)])
    def test_only_namespaces_can_be_read(self, path: tuple[str, ...]) -> None:
        with pytest.raises(Unreadable, match="is not a namespace"):
            State({}).read(path)

    def test_slots_of_working_are_empty_from_the_start(self) -> None:
        state = State({})
        assert state.read(("working", "risks")) == []
        assert state.read(("working", "artifacts")) == {}
        assert len(state.read(("working",))) == 10

    def test_a_null_that_was_written_is_read(self) -> None:
        assert after(("vars.x", OVERWRITE, None)).read(("vars", "x")) is None


class TestAbsence:
    @pytest.mark.parametrize("path", ["vars.a.b", "vars.a.b.c", "vars.a.b.0", "vars.a"])
    def test_the_target_of_a_skipped_step_reads_as_null(self, path: str) -> None:
        state = State({})
        state.mark_absent(["vars.a.b", "working.artifacts.plan"])
        assert state.read(at(path)) is None
        assert state.read(at("working.artifacts.plan.title")) is None

    @pytest.mark.parametrize("path", ["vars.c", "vars.a.c", "vars.aa", "outputs.a.b", "working.artifacts.other"])
    def test_other_values_stay_unreadable(self, path: str) -> None:
        state = State({})
        state.mark_absent(["vars.a.b", "working.artifacts.plan"])
        with pytest.raises(Unreadable):
            state.read(at(path))

    def test_a_value_of_another_step_is_read_although_one_was_skipped(self) -> None:
        state = State({})
        state.mark_absent(["vars.a", "working.risks"])
        assert state.read(("working", "risks")) == []
        state.apply([Write("vars.a", 1, OVERWRITE)], step="s")
        assert state.read(("vars", "a")) == 1

    def test_an_absent_target_is_no_part_of_the_state(self) -> None:
        state = State({})
        before = state.digest
        state.mark_absent(["vars.a"])
        assert state.digest == before
        assert state.outputs == {}

    @pytest.mark.parametrize("target", ["inputs.a", "vars", "", "item.name"])
    def test_a_target_that_nobody_may_write_cannot_be_absent(self, target: str) -> None:
        with pytest.raises(StateError, match="cannot be marked as absent"):
            State({}).mark_absent([target])


class TestOverwrite:
    def test_it_stores_the_value_and_creates_the_objects_on_the_way(self) -> None:
        state = after(("vars.a.b.c", OVERWRITE, [1]), ("vars.a.d", OVERWRITE, 2), ("outputs.x", OVERWRITE, "y"))
        assert state.read(("vars",)) == {"a": {"b": {"c": [1]}, "d": 2}}
        assert state.outputs == {"x": "y"}

    @pytest.mark.parametrize("first", STRATEGIES)
    def test_a_second_write_to_the_target_names_the_first_step(self, first: str) -> None:
        state = after(("vars.a", first, [] if first == APPEND else {}))
        assert "step “s1” wrote it first" in refused(state, "vars.a", 2)
        assert "wrote it first" in refused(state, "vars['a']", 2)

    def test_two_writes_of_one_step_to_one_target_are_refused(self) -> None:
        state = State({})
        with pytest.raises(StateError, match="step “s” wrote it first"):
            state.apply([Write("vars.a", 1, OVERWRITE, again=True)] * 2, step="s")
        assert state.read(("vars",)) == {}

    def test_iterations_overwrite_their_own_targets(self) -> None:
        state = State({})
        for number in range(1, 4):
            state.apply([Write("vars.a", number, OVERWRITE, again=number > 1)], step=f"x[2]/loop#{number}")
        assert state.read(("vars", "a")) == 3

    @pytest.mark.parametrize("other", ["other#1", "loop/x", "x[1]/loop#1", "loop2"])
    def test_iterations_do_not_overwrite_targets_of_another_step(self, other: str) -> None:
        state = State({})
        state.apply([Write("vars.a", 1, OVERWRITE)], step=other)
        with pytest.raises(StateError, match=re.escape(f"step “{other}” wrote it first")):
            state.apply([Write("vars.a", 2, OVERWRITE, again=True)], step="loop#2")

    def test_a_refused_step_did_not_write_first(self) -> None:
        state = State({})
        with pytest.raises(StateError):
            state.apply([Write("vars.a", 1, OVERWRITE), Write("frame.goal", 1, OVERWRITE)], step="failed")
        state.apply([Write("vars.a", 2, OVERWRITE)], step="next")
        assert "step “next” wrote it first" in refused(state, "vars.a", 3)


class TestReplace:
    def test_it_never_asks_who_wrote_before(self) -> None:
        state = after(("vars.a", OVERWRITE, [1]), ("vars.a", REPLACE, {"b": 1}), ("vars.a", REPLACE, None))
        assert state.read(("vars",)) == {"a": None}


class TestAppend:
    def test_a_list_is_concatenated_and_anything_else_is_one_element(self) -> None:
        state = after(*[("vars.a", APPEND, value) for value in ([1, [2]], [], {"x": 1}, "text", None, 0)])
        assert state.read(("vars", "a")) == [1, [2], {"x": 1}, "text", None, 0]

    def test_it_continues_a_list_that_was_overwritten(self) -> None:
        assert after(("vars.a", OVERWRITE, [1]), ("vars.a", APPEND, 2)).read(("vars", "a")) == [1, 2]

    @pytest.mark.parametrize("there", [{}, "text", 1, None, False])
    def test_it_needs_a_list(self, there: Json) -> None:
        assert "append needs a list" in refused(after(("vars.a", OVERWRITE, there)), "vars.a", [1], APPEND)


class TestDeepMerge:
    def test_objects_are_merged_and_the_rest_is_taken_from_the_new_value(self) -> None:
        state = after(
            ("vars.a", DEEP_MERGE, {"x": {"p": 1, "q": [1]}, "y": 1}),
            ("vars.a", DEEP_MERGE, {"x": {"q": [2], "r": None}, "y": {"z": 1}}),
        )
        assert state.read(("vars", "a")) == {"x": {"p": 1, "q": [2], "r": None}, "y": {"z": 1}}

    @pytest.mark.parametrize("other", [[], "text", 1, None])
    def test_both_sides_have_to_be_objects(self, other: Json) -> None:
        there = refused(after(("vars.a", OVERWRITE, other)), "vars.a", {}, DEEP_MERGE)
        assert "it is" in there
        value = refused(after(("vars.a", OVERWRITE, {})), "vars.a", other, DEEP_MERGE)
        assert "the value is" in value
        assert "deep_merge needs an object" in there
        assert "deep_merge needs an object" in value


class TestTargets:
    @pytest.mark.parametrize("target", ["inputs.a", "frame.goal", "frame.context.x", "inputs.*"])
    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_inputs_and_frame_are_read_only(self, target: str, strategy: str) -> None:
        state = State({"a": {}}, {"context": {}})
        assert f"{target.partition('.')[0]} is read-only. Write to vars." in refused(state, target, {}, strategy)

    @pytest.mark.parametrize("target", ["a", "vars", "trace.steps", "", "vars.", "vars..a", "vars.a b", "item.x"])
    def test_a_target_names_a_namespace_and_a_field(self, target: str) -> None:
        assert "a target is a namespace and a field" in refused(State({}), target, 1)

    @pytest.mark.parametrize("namespace", WRITABLE)
    def test_a_whole_namespace_is_no_target(self, namespace: str) -> None:
        assert f"Name one, such as {namespace}.name" in refused(State({}), f"{namespace}.*", {}, REPLACE)

    @pytest.mark.parametrize("there", [[{}], "text", 1, None])
    def test_nothing_is_written_below_a_value_that_is_no_object(self, there: Json) -> None:
        message = refused(after(("vars.a.b", OVERWRITE, there)), "vars.a.b.0.c", 1)
        assert "vars.a.b is " in message
        assert "nothing can be below it" in message

    def test_a_quoted_key_is_one_part(self) -> None:
        assert after(("vars['a.b'].c", OVERWRITE, 1)).read(("vars",)) == {"a.b": {"c": 1}}

    def test_a_target_has_few_parts(self) -> None:
        assert after((f"vars{'.a' * 19}", OVERWRITE, 1)).read(("vars", *"a" * 19)) == 1
        assert "at most 20 parts" in refused(State({}), f"vars{'.a' * 20}", 1)

    def test_an_unknown_strategy_names_the_others(self) -> None:
        message = refused(State({}), "vars.a", 1, "concat")
        assert "Use one of overwrite, append, deep_merge, replace." in message


class TestSlots:
    @pytest.mark.parametrize("slot", LIST_SLOTS)
    @pytest.mark.parametrize("value", [{}, "text", None])
    @pytest.mark.parametrize("strategy", [OVERWRITE, REPLACE])
    def test_a_list_slot_stays_a_list(self, slot: str, value: Json, strategy: str) -> None:
        assert "Set merge_strategy to append" in refused(State({}), f"working.{slot}", value, strategy)

    @pytest.mark.parametrize("slot", LIST_SLOTS)
    def test_a_list_slot_accepts_elements_and_a_whole_list(self, slot: str) -> None:
        target = f"working.{slot}"
        state = after((target, OVERWRITE, [1]), (target, APPEND, {"x": 2}), (target, APPEND, [3]))
        assert state.read(at(target)) == [1, {"x": 2}, 3]
        assert "deep_merge needs an object" in refused(state, target, {}, DEEP_MERGE)
        assert "nothing can be below it" in refused(state, f"{target}.0", {}, REPLACE)

    @pytest.mark.parametrize("value", [[], True, None])
    def test_artifacts_stay_an_object(self, value: Json) -> None:
        message = refused(State({}), "working.artifacts", value, REPLACE)
        assert "Write to working.artifacts.name." in message

    def test_artifacts_have_any_key_and_value(self) -> None:
        state = after(("working.artifacts.a", OVERWRITE, True), ("working.artifacts", DEEP_MERGE, {"b": [1]}))
        assert state.read(("working", "artifacts")) == {"a": True, "b": [1]}

    @pytest.mark.parametrize(
        ("target", "fix"),
        [
            ("working.risk", "Did you mean “risks”?"),
            ("working.hypothesis", "Did you mean “hypotheses”?"),
            ("working.zzz", "It has: artifacts, entities, options"),
            ("output.results", "Did you mean “result”?"),
            ("output.zzz", "It has: result, result_type, summary, status_reason."),
        ],
    )
    def test_an_unknown_slot_is_refused(self, target: str, fix: str) -> None:
        assert fix in refused(State({}), target, [1], APPEND)

    def test_output_has_four_fields_of_any_type(self) -> None:
        state = after(("output.result.total", OVERWRITE, 1), ("output.summary", REPLACE, "short"))
        assert state.read(("output",)) == {"result": {"total": 1}, "summary": "short"}


def test_json_has_every_namespace_and_outputs_are_one_of_them() -> None:
    state = after(("outputs.a", OVERWRITE, {"b": 1}), inputs={"x": 1})
    assert tuple(state.as_json()) == NAMESPACES
    assert state.as_json()["inputs"] == {"x": 1}
    assert state.outputs == {"a": {"b": 1}}
