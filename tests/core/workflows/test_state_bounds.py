"""State: the frozen frame, values that are not shared, and limits."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from registry.core.workflows.outputs import Write
from registry.core.workflows.plan import APPEND, DEEP_MERGE, OVERWRITE, REPLACE, STRATEGIES
from registry.core.workflows.state import State, StateError, check_frame
from registry.core.workflows.values import Json, canonical

EMPTY_FRAME: dict[str, Json] = {
    "goal": None,
    "context": {},
    "constraints": {},
    "success_criteria": {},
    "assumptions": [],
    "priority": None,
}


def nested(levels: int) -> Json:
    value: Json = []
    for _ in range(levels - 1):
        value = [value]
    return value


class TestFrame:
    @pytest.mark.parametrize("frame", [{}, dict.fromkeys(EMPTY_FRAME)])
    def test_missing_fields_are_empty(self, frame: Mapping[str, Json]) -> None:
        assert check_frame(frame) == EMPTY_FRAME
        assert State({}, frame).as_json()["frame"] == EMPTY_FRAME

    def test_a_complete_frame_is_kept(self) -> None:
        frame = {
            "goal": "Choose a database",
            "context": {"team": {"size": 4}},
            "constraints": {"budget": 100},
            "success_criteria": {"p95": 5},
            "assumptions": ["Linux"],
            "priority": "high",
        }
        assert State({}, frame).read(("frame",)) == frame

    @pytest.mark.parametrize("field", EMPTY_FRAME)
    @pytest.mark.parametrize("value", [1, True, "text", [1], {"a": 1}])
    def test_a_field_has_its_type(self, field: str, value: Json) -> None:
        fitting = {"goal": str, "priority": str, "assumptions": list}.get(field, dict)
        if isinstance(value, fitting):
            assert check_frame({field: value})[field] == value
        else:
            with pytest.raises(StateError, match=f"“{field}” of the frame is of type .* It must be of type"):
                State({}, {field: value})

    def test_an_unknown_field_is_refused_with_the_nearest_name(self) -> None:
        with pytest.raises(StateError, match=r"the frame has no field “gaol”\. Did you mean “goal”\?"):
            check_frame({"gaol": "x"})

    @pytest.mark.parametrize("frame", [[], "text", None, 1])
    def test_a_frame_is_an_object(self, frame: Json) -> None:
        with pytest.raises(StateError, match="It must be an object"):
            check_frame(frame)

    @pytest.mark.parametrize("context", [{"a": math.nan}, {1: 2}, {"a": {1, 2}}, {"a": nested(98)}])
    def test_a_frame_is_json(self, context: Any) -> None:
        with pytest.raises(StateError, match="The frame cannot be used"):
            check_frame({"context": context})

    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_no_step_changes_the_frame(self, strategy: str) -> None:
        state = State({}, {"context": {"a": 1}, "assumptions": ["x"]})
        for target in ("frame.context", "frame.context.b", "frame.assumptions", "frame.new"):
            with pytest.raises(StateError, match="frame is read-only"):
                state.apply([Write(target, {}, strategy)], step="s")
        assert state.read(("frame", "context")) == {"a": 1}


class TestSharing:
    def test_a_change_of_what_was_passed_in_changes_nothing(self) -> None:
        inputs, frame = {"a": {"b": [1]}}, {"context": {"b": [1]}}
        state = State(inputs, frame)
        values: list[Json] = [{"b": [1]}, [[1]], {"b": [1]}, [{"b": 1}]]
        targets = ("vars.a", "vars.b", "vars.c", "working.risks")
        for target, value, strategy in zip(targets, values, (OVERWRITE, APPEND, DEEP_MERGE, REPLACE), strict=True):
            state.apply([Write(target, value, strategy)], step="s")
        before = canonical(state.as_json())
        inputs["a"]["b"].append(2)
        frame["context"]["b"].append(2)
        values[0]["b"].append(2)
        values[1][0].append(2)
        values[2]["b"].append(2)
        values[3][0]["b"] = 2
        assert canonical(state.as_json()) == before

    @pytest.mark.parametrize("path", [("inputs", "a"), ("vars", "a"), ("vars",), ("working", "risks"), ("frame",)])
    def test_a_change_of_what_was_read_changes_nothing(self, path: tuple[str, ...]) -> None:
        state = State({"a": {"b": [1]}}, {"goal": "x"})
        state.apply([Write("vars.a", {"b": [1]}, OVERWRITE), Write("working.risks", [[1]], APPEND)], step="s")
        before = state.digest
        found = state.read(path)
        found.clear()
        state.as_json()["vars"]["a"]["b"].append(2)
        state.outputs["new"] = 1
        assert state.digest == before

    @pytest.mark.parametrize(
        ("target", "value", "strategy"),
        [
            ("vars.a.b", 2, REPLACE),
            ("vars.a.c.d", 2, OVERWRITE),
            ("vars.a.list", 2, APPEND),
            ("vars.a", {"b": {"c": 2}, "list": []}, DEEP_MERGE),
        ],
    )
    def test_a_value_that_was_viewed_is_not_changed_by_later_writes(
        self, target: str, value: Json, strategy: str
    ) -> None:
        state = State({})
        state.apply([Write("vars.a", {"b": {"c": 1}, "list": [1]}, OVERWRITE)], step="first")
        viewed = state.view(("vars",))
        state.apply([Write(target, value, strategy)], step="second")
        assert viewed == {"a": {"b": {"c": 1}, "list": [1]}}
        assert state.read(("vars",)) != viewed

    def test_a_write_copies_only_the_containers_on_its_path(self) -> None:
        state = State({"large": list(range(1000))})
        state.apply([Write("vars.large", list(range(1000)), OVERWRITE)], step="first")
        large, inputs = state.view(("vars", "large")), state.view(("inputs",))
        state.apply([Write("vars.a.b", 1, OVERWRITE), Write("working.risks", 1, APPEND)], step="second")
        assert state.view(("vars", "large")) is large
        assert state.view(("inputs",)) is inputs


class TestValues:
    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (math.nan, "not finite"),
            ([math.inf], "not finite"),
            ({1: 2}, "a key that is not text"),
            ({"a": {1, 2}}, "a Python set"),
            ([(1, 2)], "a Python tuple"),
            (b"bytes", "a Python bytes"),
            ("\ud800", "half of a surrogate pair"),
            ({"\udfff": 1}, "half of a surrogate pair"),
            ([10**5000], "too many digits"),
            (nested(99), "nested deeper than 100 levels"),
            (nested(100_000), "nested deeper than 100 levels"),
        ],
    )
    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_only_json_is_stored(self, value: Any, message: str, strategy: str) -> None:
        state = State({})
        before = state.digest
        with pytest.raises(StateError, match=message):
            state.apply([Write("vars.a", value, strategy)], step="s")
        with pytest.raises(StateError, match=message):
            State({"a": value, "b": [value]})
        assert state.digest == before

    def test_a_container_in_itself_is_refused(self) -> None:
        loop: list[Json] = []
        loop.append(loop)
        with pytest.raises(StateError, match="nested deeper"):
            State({}).apply([Write("vars.a", loop, OVERWRITE)], step="s")

    def test_every_place_has_room_for_the_same_levels(self) -> None:
        state = State({"a": nested(98)}, {"context": {"a": nested(97)}})
        state.apply([Write("vars.a", nested(98), OVERWRITE), Write("vars.b.c", nested(97), OVERWRITE)], step="s")
        state.apply([Write("vars.d", {"x": nested(96)}, APPEND), Write("vars.e", nested(98), APPEND)], step="s")
        assert state.read(("vars", "e")) == nested(98)
        for target, value in (("vars.f", {"x": nested(97)}), ("vars.e", nested(99)), ("vars.g.h", nested(98))):
            with pytest.raises(StateError, match="nested deeper than 100 levels"):
                state.apply([Write(target, value, APPEND)], step="s")


class TestLimits:
    def test_the_state_has_at_most_so_many_characters(self) -> None:
        room = 1_000 - State({}).chars
        exact = State({}, most_chars=1_000)
        exact.apply([Write("vars.a", "x" * (room - len('"a":""')), OVERWRITE)], step="s")
        assert exact.chars == 1_000
        with pytest.raises(
            StateError, match=r"Step “t” cannot write vars\.b: the state of the run would be longer than 1"
        ):
            exact.apply([Write("vars.b", 1, OVERWRITE)], step="t")
        exact.apply([Write("vars.a", "", REPLACE), Write("vars.b", 1, OVERWRITE)], step="t")

    def test_inputs_and_frame_count(self) -> None:
        for inputs, frame in (
            ({"a": "x" * 900}, {}),
            ({}, {"goal": "x" * 900}),
            ({"a": "x" * 500}, {"goal": "x" * 500}),
        ):
            State(inputs, frame, most_chars=2_000)
            with pytest.raises(StateError, match=r"longer than 1,000 characters of JSON\. Write less\."):
                State(inputs, frame, most_chars=1_000)

    def test_many_small_writes_reach_the_limit_too(self) -> None:
        state = State({}, most_chars=1_000)
        with pytest.raises(StateError, match="longer than 1,000 characters"):
            for _ in range(1_000):
                state.apply([Write("working.risks", "x", APPEND)], step="s")
        assert 996 < state.chars == len(canonical(state.as_json())) <= 1_000

    def test_a_value_that_names_itself_often_is_refused_before_it_is_copied(self) -> None:
        value: Json = ["x"]
        for _ in range(90):
            value = [value, value]
        with pytest.raises(StateError, match="the value would"):
            State({}).apply([Write("vars.a", value, OVERWRITE)], step="s")

    @pytest.mark.parametrize("empty", [[], {}, 1, ""])
    def test_a_state_has_at_most_so_many_values(self, empty: Json) -> None:
        with pytest.raises(StateError, match="more than 300,000 values"):
            State({}).apply([Write("vars.a", [empty] * 300_001, OVERWRITE)], step="s")

    def test_values_of_several_steps_are_counted_together(self) -> None:
        state = State({})
        state.apply([Write("vars.a", [0] * 200_000, OVERWRITE)], step="a")
        with pytest.raises(StateError, match="the state of the run would have more than 300,000 values"):
            state.apply([Write("vars.b", [0] * 200_000, OVERWRITE)], step="b")
        state.apply([Write("vars.a", [], REPLACE), Write("vars.b", [0] * 200_000, OVERWRITE)], step="b")
