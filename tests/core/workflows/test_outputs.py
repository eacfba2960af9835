"""Outputs: what a step writes by its mapping, and by the hints of its capability."""

import re
from typing import Any

import pytest

from registry.core.workflows.capability import Hints, Produced
from registry.core.workflows.failures import Code, StepFailed
from registry.core.workflows.outputs import COGNITIVE_TYPES, KEYED, LIST, SINGLE, Write, targets_of, writes_of
from registry.core.workflows.plan import APPEND, OVERWRITE, REPLACE, STRATEGIES, Foreach, Step
from registry.core.workflows.state import State, StateError, target_path
from registry.core.workflows.values import Json

NO_HINTS = Hints()


def step(output: dict[str, str] | None = None, **rest: Any) -> Step:
    return Step("look", "text.look", output=output, **rest)


def hints(**types: str) -> Hints:
    """Return hints with a type for each field, or `Type>target`."""
    produced = {field: Produced(*type_.split(">")) for field, type_ in types.items()}
    return Hints(produces=produced)


def wired(produced: Json, of: Hints, **rest: Any) -> State:
    """Return the state after one step without a mapping."""
    state = State({})
    state.apply(writes_of(step(**rest), produced, of), step="look")
    return state


class TestMapping:
    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_fields_are_written_with_the_strategy_of_the_step(self, strategy: str) -> None:
        mapped = step({"text": "vars.a", "meta.words": "outputs.b"}, merge_strategy=strategy)
        assert writes_of(mapped, {"text": "x", "meta": {"words": [1]}, "more": 0}, NO_HINTS, again=True) == (
            Write("vars.a", "x", strategy, True, "text"),
            Write("outputs.b", [1], strategy, True, "meta.words"),
        )

    def test_the_mapping_wins_over_the_hints(self) -> None:
        writes = writes_of(step({"risk": "vars.risk"}), {"risk": 1, "other": 2}, hints(risk="Risk", other="Risk"))
        assert [write.target for write in writes] == ["vars.risk"]

    def test_an_empty_mapping_writes_nothing(self) -> None:
        assert writes_of(step({}), {"risk": 1}, hints(risk="Risk")) == ()
        assert targets_of(step({}), hints(risk="Risk")) == ()

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("items.0.name", "first"),
            ("items.1", {"name": "second"}),
            ("text.template.text", "scattered"),
            ("text.template", {"text": "scattered"}),
            ("text.pick", "plain"),
            ("empty", None),
        ],
    )
    def test_a_field_is_a_path_and_the_longest_key_is_taken(self, field: str, value: Json) -> None:
        produced = {
            "items": [{"name": "first"}, {"name": "second"}],
            "text.template": {"text": "scattered"},
            "text": {"template": {"text": "nested"}, "pick": "plain"},
            "empty": None,
        }
        assert [write.value for write in writes_of(step({field: "vars.a"}), produced, NO_HINTS)] == [value]

    @pytest.mark.parametrize(
        ("field", "there"),
        [
            ("c", "a, b"),
            ("a.x", "y"),
            ("a.y.z", "a value of type integer"),
            ("b.2", "a list of 2"),
            ("b.-1", "a list of 2"),
            ("b.²", "a list of 2"),
            ("b.name", "a list of 2"),
            ("b." + "9" * 900, "a list of 2"),
            ("", "a, b"),
            ("a.", "y"),
        ],
    )
    def test_a_missing_field_names_those_that_were_produced(self, field: str, there: str) -> None:
        with pytest.raises(StepFailed, match=re.escape(f"”. It produced: {there}.")) as caught:
            writes_of(step({field: "vars.a"}), {"a": {"y": 1}, "b": [1, 2]}, NO_HINTS)
        assert caught.value.failure.code == Code.OUTPUT
        assert caught.value.failure.message.startswith(f"Step “look” did not produce “{field[:79]}")

    def test_a_message_names_only_some_fields(self) -> None:
        field = ".".join("a" * 1000)
        with pytest.raises(StepFailed, match=r"did not produce “(a\.){39}a?…”\. It produced: a{79}…\."):
            writes_of(step({field: "vars.a"}), {"a" * 90: 1}, NO_HINTS)
        with pytest.raises(StepFailed):
            writes_of(step({field: "vars.a"}), {field: "longer than a reference"}, NO_HINTS)
        with pytest.raises(StepFailed, match="f18, f19, …"):
            writes_of(step({"x": "vars.a"}), {f"f{number}": 1 for number in range(1000)}, NO_HINTS)
        with pytest.raises(StepFailed, match="It produced: nothing"):
            writes_of(step({"x": "vars.a"}), {}, NO_HINTS)

    @pytest.mark.parametrize("produced", [None, [], "text", 1, True])
    @pytest.mark.parametrize("mapping", [None, {}, {"text": "vars.a"}])
    def test_a_step_produces_an_object(self, produced: Json, mapping: dict[str, str] | None) -> None:
        with pytest.raises(StepFailed, match=r"Step “look” produced a value of type .* It must produce an object"):
            writes_of(step(mapping), produced, hints(text="Summary"))


class TestTypes:
    def test_every_type_has_a_slot_that_a_step_may_write(self) -> None:
        assert len(COGNITIVE_TYPES) == 15
        for name, type_ in COGNITIVE_TYPES.items():
            target_path(type_.target("field"))
            assert type_.cardinality in {LIST, SINGLE, KEYED}, name

    @pytest.mark.parametrize("name", COGNITIVE_TYPES)
    def test_values_of_two_steps_meet_as_the_cardinality_says(self, name: str) -> None:
        type_ = COGNITIVE_TYPES[name]
        state = State({})
        for value in ("first", "second"):
            state.apply(writes_of(step(), {"field": value}, hints(field=name)), step=value)
        expected = ["first", "second"] if type_.cardinality == LIST else "second"
        assert state.read(target_path(type_.target("field"))) == expected

    @pytest.mark.parametrize("name", COGNITIVE_TYPES)
    def test_two_fields_of_one_type_meet_as_the_cardinality_says(self, name: str) -> None:
        type_ = COGNITIVE_TYPES[name]
        state = wired({"one": [1], "two": [2]}, hints(one=name, two=name))
        expected = {LIST: [1, 2], KEYED: {"one": [1], "two": [2]}, SINGLE: [2]}[type_.cardinality]
        assert state.read(tuple(type_.slot.split("."))) == expected


class TestWiring:
    def test_three_artifacts_of_one_capability_are_three_keys(self) -> None:
        state = wired({"a": 1, "b": {"x": 1}, "c": [1]}, hints(a="Artifact", b="Artifact", c="Plan"))
        assert state.read(("working", "artifacts")) == {"a": 1, "b": {"x": 1}, "c": [1]}

    def test_a_scalar_artifact_leaves_the_others_alone(self) -> None:
        state = wired({"report": "text"}, hints(report="Artifact"))
        state.apply(writes_of(step(), {"sent": True}, hints(sent="Artifact")), step="send")
        assert state.read(("working", "artifacts")) == {"report": "text", "sent": True}

    def test_lists_are_concatenated_and_other_values_are_one_element(self) -> None:
        state = wired({"risks": [{"id": 1}, {"id": 2}], "top": {"id": 3}}, hints(risks="Risk", top="Risk"))
        assert state.read(("working", "risks")) == [{"id": 1}, {"id": 2}, {"id": 3}]

    def test_null_adds_nothing_to_a_list_and_is_kept_elsewhere(self) -> None:
        state = wired({"risk": None, "score": None}, hints(risk="Risk", score="Score"))
        assert state.read(("working", "risks")) == []
        assert state.read(("working", "artifacts")) == {"score": None}

    def test_elements_of_one_list_stay_as_they_are(self) -> None:
        state = wired({"risks": [[1, 2], None, 3]}, hints(risks="Risk"))
        assert state.read(("working", "risks")) == [[1, 2], None, 3]

    def test_items_of_a_foreach_add_their_own_elements(self) -> None:
        produced = {"risks": [[1, 2], None, [], 3, [[4]]], "plan": ["x", "y"]}
        state = wired(produced, hints(risks="Risk", plan="Plan"), foreach=Foreach("vars.items"))
        assert state.read(("working", "risks")) == [1, 2, 3, [4]]
        assert state.read(("working", "artifacts", "plan")) == ["x", "y"]

    def test_a_field_that_was_not_produced_is_left_out(self) -> None:
        assert writes_of(step(), {"other": 1}, hints(risk="Risk", plan="Plan")) == ()

    def test_fields_without_a_hint_are_not_written(self) -> None:
        assert writes_of(step(), {"text": "x"}, NO_HINTS) == ()
        assert targets_of(step(), NO_HINTS) == ()

    @pytest.mark.parametrize(
        ("hint", "write"),
        [
            ("Artifact>working.artifacts.sent", Write("working.artifacts.sent", [1], REPLACE, source="x")),
            ("Risk>vars.risks", Write("vars.risks", [1], APPEND, source="x")),
            ("Summary>outputs.text", Write("outputs.text", [1], REPLACE, source="x")),
            ("Invoice>vars.invoice", Write("vars.invoice", [1], REPLACE, source="x")),
        ],
    )
    def test_a_hinted_target_overrides_the_slot_and_keeps_the_merge_rule(self, hint: str, write: Write) -> None:
        assert writes_of(step(), {"x": [1]}, hints(x=hint)) == (write,)
        assert targets_of(step(), hints(x=hint)) == (write.target,)

    def test_an_unknown_type_without_a_target_is_refused(self) -> None:
        with pytest.raises(
            StepFailed, match=r"the unknown type “Invoice” and no target\. The types are Artifact, "
        ) as caught:
            writes_of(step(), {"x": 1}, hints(x="Invoice"))
        assert caught.value.failure.code == Code.CAPABILITY
        assert targets_of(step(), hints(x="Invoice", y="Risk")) == ("working.risks",)

    def test_a_context_does_not_change_the_frame(self) -> None:
        state = wired({"found": {"team": 4}}, hints(found="Context"))
        assert state.read(("extensions", "context")) == {"team": 4}
        assert state.read(("frame", "context")) == {}

    def test_a_target_in_the_frame_is_refused_when_it_is_written(self) -> None:
        with pytest.raises(StateError, match="frame is read-only"):
            wired({"x": {}}, hints(x="Context>frame.context"))

    def test_iterations_pass_on_that_they_write_again(self) -> None:
        writes = writes_of(step(), {"a": 1, "b": 2}, hints(a="Risk", b="Plan"), again=True)
        assert all(write.again for write in writes)

    def test_the_strategy_of_the_step_is_for_its_mapping_only(self) -> None:
        writes = writes_of(step(merge_strategy=OVERWRITE), {"a": 1}, hints(a="Risk"))
        assert [write.strategy for write in writes] == [APPEND]


def test_targets_are_those_that_are_written_and_each_is_named_once() -> None:
    mapped = step({"a": "vars.x", "b": "vars.x", "c": "vars.y"})
    assert targets_of(mapped, NO_HINTS) == ("vars.x", "vars.y")
    both = hints(a="Risk", b="Risk", c="Artifact", d="Summary")
    targets = targets_of(step(), both)
    assert targets == ("working.risks", "working.artifacts.c", "output.summary")
    assert {write.target for write in writes_of(step(), dict.fromkeys("abcd", 1), both)} == set(targets)


def test_a_skipped_step_leaves_readable_nulls() -> None:
    state = State({})
    state.mark_absent(targets_of(step(), hints(plan="Plan", risks="Risk")))
    assert state.read(("working", "artifacts", "plan", "title")) is None
    assert state.read(("working", "risks")) == []
