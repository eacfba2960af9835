"""Laws of the state: it is a fold, a step applies whole or not at all, and nothing that was appended is lost."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.workflows.json_tree import Refused, Size, copied, joined, merged, size, take
from registry.core.workflows.outputs import Write
from registry.core.workflows.plan import APPEND, DEEP_MERGE, OVERWRITE, REPLACE, STRATEGIES
from registry.core.workflows.state import State, StateError
from registry.core.workflows.values import Json, canonical
from tests import effort

law = settings(max_examples=effort.examples(60))
ANY_SIZE = Size(10**9, 10**9)

KEYS = st.sampled_from(["a", "b", "ü", "", '"\n', "😀"])
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4)
)
VALUES = st.recursive(
    SCALARS, lambda of: st.lists(of, max_size=3) | st.dictionaries(KEYS, of, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=3)
# Few targets, so that the writes meet. Some are refused.
TARGETS = st.sampled_from(
    ["vars.a", "vars.a.b", "vars.a.b.c", "vars['ü'].a", "outputs.a", "working.risks", "working.artifacts",
     "working.artifacts.a", "output.result", "output.result.a", "extensions.a", "frame.goal", "working.zzz"]
)  # fmt: skip
WRITES = st.builds(Write, TARGETS, VALUES | OBJECTS, st.sampled_from(STRATEGIES), st.booleans())
STEPS = st.lists(st.lists(WRITES, max_size=3), max_size=8)


def fold(steps: list[list[Write]]) -> tuple[State, list[str]]:
    """Return the state after all steps that can be applied, and the messages of the others."""
    state, messages = State({"x": [1]}), []
    for number, writes in enumerate(steps):
        try:
            state.apply(writes, step=f"s{number % 3}")
        except StateError as error:
            messages.append(str(error))
    return state, messages


@law
@given(STEPS)
def test_the_same_writes_in_the_same_order_give_the_same_digest(steps: list[list[Write]]) -> None:
    state, messages = fold(steps)
    again, same_messages = fold(copy.deepcopy(steps))
    assert (again.digest, same_messages) == (state.digest, messages)


@law
@given(STEPS, st.lists(WRITES, min_size=1, max_size=4))
def test_a_step_is_applied_whole_or_not_at_all(steps: list[list[Write]], writes: list[Write]) -> None:
    state, _ = fold(steps)
    before, chars = state.as_json(), state.chars
    refused = [*writes, Write("inputs.x", 1, REPLACE)]
    with pytest.raises(StateError):
        state.apply(refused, step="last")
    assert (state.as_json(), state.chars) == (before, chars)
    untouched, _ = fold(steps)
    for one in (state, untouched):
        try:
            one.apply(writes, step="last")
        except StateError:
            assert one.as_json() == before
    assert state.digest == untouched.digest


@law
@given(STEPS)
def test_the_counted_size_is_the_size_of_the_json(steps: list[list[Write]]) -> None:
    state, _ = fold(steps)
    assert state.chars == len(canonical(state.as_json()))


@law
@given(STEPS)
def test_what_was_viewed_is_never_changed(steps: list[list[Write]]) -> None:
    state, viewed = State({}), []
    for number, writes in enumerate(steps):
        try:
            state.apply(writes, step=f"s{number}")
        except StateError:
            continue
        roots = {name: state.view((name,)) for name in state.as_json()}
        viewed.append((roots, copy.deepcopy(roots)))
    assert all(now == then for now, then in viewed)


@law
@given(st.lists(st.lists(st.integers(), max_size=4), min_size=1, max_size=5), st.data())
def test_appends_of_any_interleaving_keep_every_element_in_the_order_of_its_writer(
    writers: list[list[int]], data: st.DataObject
) -> None:
    turns = [writer for writer, values in enumerate(writers) for _ in values]
    state, left = State({}), [list(values) for values in writers]
    for writer in data.draw(st.permutations(turns)):
        element = {"writer": writer, "value": left[writer].pop(0)}
        as_list = data.draw(st.booleans())
        state.apply([Write("working.risks", [element] if as_list else element, APPEND)], step=f"s{writer}")
    risks = state.read(("working", "risks"))
    for writer, values in enumerate(writers):
        assert [risk["value"] for risk in risks if risk["writer"] == writer] == values
    assert len(risks) == len(turns)


@law
@given(st.lists(st.tuples(st.sampled_from("abcdef"), VALUES), unique_by=lambda pair: pair[0]), st.data())
def test_writers_of_different_targets_may_come_in_any_order(pairs: list[tuple[str, Json]], data: st.DataObject) -> None:
    digests = set()
    for order in (pairs, data.draw(st.permutations(pairs))):
        state = State({})
        for name, value in order:
            state.apply([Write(f"vars.x.{name}", value, OVERWRITE)], step=name)
        digests.add(state.digest)
    assert len(digests) == 1


def folded(*values: Json) -> Json:
    state = State({})
    for value in values:
        state.apply([Write("vars.a", value, DEEP_MERGE)], step="s")
    return state.read(("vars", "a"))


@law
@given(OBJECTS, OBJECTS)
def test_a_deep_merge_is_idempotent(base: Json, overlay: Json) -> None:
    assert folded(base, overlay, overlay) == folded(base, overlay)
    assert folded(base, base) == base == folded({}, base) == folded(base, {})


def leaves(value: dict[str, Json], path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Json]:
    found: dict[tuple[str, ...], Json] = {}
    for key, item in value.items():
        found |= leaves(item, (*path, key)) if isinstance(item, dict) and item else {(*path, key): item}
    return found


@law
@given(OBJECTS, OBJECTS)
def test_the_overlay_of_a_deep_merge_wins_and_the_rest_stays(base: dict[str, Json], overlay: dict[str, Json]) -> None:
    result = folded(base, overlay)
    assert result.keys() == base.keys() | overlay.keys()
    for path, leaf in leaves(overlay).items():
        found: Any = result
        for key in path:
            found = found[key]
        assert found == leaf or (leaf == {} and isinstance(found, dict))
    assert {key: result[key] for key in base.keys() - overlay.keys()} == {
        key: base[key] for key in base.keys() - overlay.keys()
    }


# Objects whose keys say whether they hold an object, so that an object never meets another value.
ALIKE = st.recursive(
    st.dictionaries(st.sampled_from(["s", "t"]), SCALARS | st.lists(SCALARS, max_size=2)),
    lambda of: st.dictionaries(st.sampled_from(["x", "y"]), of, max_size=2),
    max_leaves=6,
)


@law
@given(ALIKE, ALIKE, ALIKE)
def test_deep_merges_of_alike_objects_are_associative(first: Json, second: Json, third: Json) -> None:
    assert folded(first, folded(second, third)) == folded(folded(first, second), third)


def test_deep_merges_are_not_associative_where_an_object_meets_another_value() -> None:
    first, second, third = {"a": {"x": 1}}, {"a": 0}, {"a": {"y": 2}}
    assert folded(first, second, third) == {"a": {"y": 2}}
    assert folded(first, folded(second, third)) == {"a": {"x": 1, "y": 2}}


@law
@given(VALUES)
def test_a_taken_value_is_an_equal_copy_of_known_size(value: Json) -> None:
    taken, measured = take(value, ANY_SIZE)
    assert canonical(taken) == canonical(value) == canonical(copied(value))
    assert measured == size(value)
    assert measured.chars == len(canonical(value))
    assert take(value, measured)[1] == measured
    for short in (Size(measured.chars - 1, measured.values), Size(measured.chars, measured.values - 1)):
        with pytest.raises(Refused):
            take(value, short)


@law
@given(st.lists(VALUES, max_size=3), st.lists(VALUES, max_size=3), OBJECTS, OBJECTS)
def test_growth_is_the_difference_of_the_sizes(
    base: list[Json], more: list[Json], under: dict[str, Json], over: dict[str, Json]
) -> None:
    result, grown = joined(base, more, size(more))
    assert size(base).plus(grown) == size(result)
    result_object, grown = merged(under, over)
    assert size(under).plus(grown) == size(result_object)
