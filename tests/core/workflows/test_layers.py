"""Layers of a workflow graph, and which of its arrows are drawn."""

from itertools import pairwise, product

import pytest
from hypothesis import given

from registry.core.workflows.layers import (
    MANY_LANES,
    MOST_ARROWS,
    MOST_LANES,
    Arrow,
    Layers,
    crossings,
    layers,
    neighbours,
)
from registry.core.workflows.plan import Plan, Step
from tests.core.workflows.graphs import chain, fan, plan_of, plans, two_sides, window


def reached(found: Layers) -> dict[str, set[str]]:
    """Return for each step all steps before it, by the arrows that are drawn."""
    before: dict[str, set[str]] = {name: set() for name in found.layer}
    for name in sorted(found.layer, key=found.layer.__getitem__):
        for arrow in found.arrows:
            if arrow.target == name:
                before[name] |= before[arrow.source] | {arrow.source}
    return before


@given(plans())
def test_each_step_is_below_everything_it_waits_for_and_as_high_as_possible(plan: Plan) -> None:
    layer = layers(plan).layer
    for step in plan.steps:
        assert layer[step.id] == 1 + max((layer[each] for each in step.depends_on), default=-1)


@given(plans())
def test_each_step_is_once_in_its_own_layer(plan: Plan) -> None:
    found = layers(plan)
    boxes = [name for index, row in enumerate(found.rows) for name, _ in row if found.layer[name] == index]
    assert sorted(boxes) == sorted(plan.order)
    assert all(row and len(set(row)) == len(row) for row in found.rows)


@given(plans())
def test_an_arrow_has_a_place_in_every_layer_that_it_passes(plan: Plan) -> None:
    found = layers(plan)
    for arrow in found.arrows:
        path = found.path(arrow)
        assert path[0] == (arrow.source, found.layer[arrow.source])
        assert path[-1] == (arrow.target, found.layer[arrow.target])
        assert all(lower[1] == upper[1] + 1 for upper, lower in pairwise(path))
        assert all(node in found.rows[node[1]] for node in path)


@given(plans())
def test_arrows_that_are_not_drawn_follow_from_those_that_are(plan: Plan) -> None:
    found = layers(plan)
    before = reached(found)
    assert found.implied
    assert all(each in before[step.id] for step in plan.steps for each in step.depends_on)
    assert found.hidden == sum(len(step.depends_on) for step in plan.steps) - len(found.arrows)


@given(plans())
def test_the_same_plan_always_has_the_same_layers(plan: Plan) -> None:
    assert layers(plan) == layers(plan)


@given(plans())
def test_sorting_never_adds_crossings(plan: Plan) -> None:
    found = layers(plan)
    _, below = neighbours(found.path(arrow) for arrow in found.arrows)
    place = {step.id: index for index, step in enumerate(plan.steps)}
    unsorted = [sorted(row, key=lambda node: place[node[0]]) for row in found.rows]
    assert crossings(found.rows, below) <= crossings(unsorted, below)


@given(plans())
def test_crossings_are_pairs_of_arrows_in_opposite_order(plan: Plan) -> None:
    found = layers(plan)
    _, below = neighbours(found.path(arrow) for arrow in found.arrows)
    place = {node: index for row in found.rows for index, node in enumerate(row)}
    pairs = [(upper, lower) for upper in below for lower in below[upper]]
    opposite = sum(
        place[one[0]] < place[two[0]] and place[one[1]] > place[two[1]]
        for one, two in product(pairs, pairs)
        if one[0][1] == two[0][1]
    )
    assert crossings(found.rows, below) == opposite


def test_parallel_branches_do_not_cross() -> None:
    plan = plan_of({"a": [], "b": [], "c": [], "x": ["c"], "y": ["b"], "z": ["a"]})
    found = layers(plan)
    _, below = neighbours(found.path(arrow) for arrow in found.arrows)
    assert crossings(found.rows, below) == 0


def test_an_implied_arrow_is_drawn_while_there_are_few() -> None:
    found = layers(plan_of({"a": [], "b": ["a"], "c": ["a", "b"]}))
    assert Arrow("a", "c") in found.arrows
    assert found.hidden == 0
    assert found.rows[1] == (("a", 1), ("b", 1))


def test_implied_arrows_are_left_out_if_too_many_would_pass_a_layer() -> None:
    found = layers(window(30, MANY_LANES + 2))
    assert found.implied
    assert {(arrow.source, arrow.target) for arrow in found.arrows} == {(f"s{n}", f"s{n + 1}") for n in range(29)}


def test_a_denied_step_points_at_what_runs_instead() -> None:
    ask = Step("ask", "data.echo", on_deny="apologise")
    found = layers(plan_of({"ask": [], "send": ["ask"], "apologise": []}, ask=ask))
    assert Arrow("ask", "apologise", denied=True) in found.arrows
    assert found.layer["apologise"] == 1


@pytest.mark.parametrize("target", ["first", "ask", "nobody"])
def test_what_runs_instead_gets_no_arrow_if_it_runs_earlier_or_is_unknown(target: str) -> None:
    ask = Step("ask", "data.echo", depends_on=("first",), on_deny=target)
    found = layers(plan_of({"first": [], "ask": ["first"]}, ask=ask))
    assert found.arrows == (Arrow("first", "ask"),)


def test_a_plan_without_steps_has_no_layers() -> None:
    assert layers(plan_of({})).rows == ()


@pytest.mark.parametrize(
    ("plan", "implied"),
    [
        (chain(500), True),
        (fan(498), True),
        (window(500, 41), True),  # 20,000 arrows
        (two_sides(141, 141), False),
        (two_sides(100, 100, between=300), False),
        (two_sides(7, 7, between=486), False),
        (two_sides(250, 1, between=249), False),
    ],
    ids=["chain", "fan", "window", "two sides", "far apart", "few long arrows", "many long arrows"],
)
def test_the_largest_plans_are_drawn_with_few_arrows_and_stay_connected(plan: Plan, implied: bool) -> None:
    found = layers(plan)
    lanes = sum(len(row) for row in found.rows) - len(plan.steps)
    assert len(found.arrows) <= MOST_ARROWS
    assert lanes <= MOST_LANES
    assert found.implied is implied
    assert found.hidden == sum(len(step.depends_on) for step in plan.steps) - len(found.arrows)
    assert {arrow.target for arrow in found.arrows} == {step.id for step in plan.steps if step.depends_on}
