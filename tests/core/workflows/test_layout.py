"""The layout of a workflow graph."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.workflows import layout
from registry.core.workflows.layout import LINE, MARK, MARKS, NARROW, WIDE, Box, Layout, Size, arrange, wrap
from registry.core.workflows.plan import Approvers, Foreach, Plan, Router, Scatter, Step, While
from tests.core.workflows.graphs import chain, fan, plan_of, plans, two_sides, window
from tests.cpu import within

SIZES = st.sampled_from([WIDE, NARROW])


def overlap(one: Box, two: Box) -> bool:
    across = one.x < two.x + two.width and two.x < one.x + one.width
    return across and one.y < two.y + two.height and two.y < one.y + one.height


def by_step(arranged: Layout) -> dict[str, Box]:
    return {box.step: box for box in arranged.boxes}


@given(plans(), SIZES)
def test_no_two_boxes_overlap(plan: Plan, size: Size) -> None:
    boxes = arrange(plan, size).boxes
    assert len(boxes) == len(plan.steps)
    assert not any(overlap(one, two) for one, two in combinations(boxes, 2))


@given(plans(), SIZES)
def test_every_box_and_every_arrow_is_inside_the_drawing(plan: Plan, size: Size) -> None:
    arranged = arrange(plan, size)
    for box in arranged.boxes:
        assert 0 <= box.x <= box.x + box.width <= arranged.width
        assert 0 <= box.y <= box.y + box.height <= arranged.height
    for x, y in (point for route in arranged.routes for point in route.points):
        assert 0 <= x <= arranged.width
        assert 0 <= y <= arranged.height


@given(plans(), SIZES)
def test_every_arrow_goes_down_from_its_source_to_its_target(plan: Plan, size: Size) -> None:
    arranged = arrange(plan, size)
    boxes = by_step(arranged)
    for route in arranged.routes:
        source, target = boxes[route.source], boxes[route.target]
        assert source.layer < target.layer
        assert route.points[0] == (pytest.approx(source.x + source.width / 2, abs=0.2), source.y + source.height)
        assert route.points[-1] == (pytest.approx(target.x + target.width / 2, abs=0.2), target.y)
        assert all(upper < lower for (_, upper), (_, lower) in pairwise(route.points))


@given(plans(), SIZES)
def test_no_arrow_goes_through_a_box(plan: Plan, size: Size) -> None:
    """Arrows turn only between layers, and inside a layer they go straight down beside the boxes."""
    arranged = arrange(plan, size)
    for route in arranged.routes:
        steps = list(pairwise(route.points))
        for (left, top), (right, bottom) in steps[::2]:
            assert not any(box.y < bottom and top < box.y + box.height for box in arranged.boxes), (left, right)
        for (left, top), (right, bottom) in steps[1::2]:
            assert left == right
            passed = [box for box in arranged.boxes if box.y < bottom and top < box.y + box.height]
            assert not any(box.x <= left <= box.x + box.width for box in passed)


@given(plans(), SIZES)
def test_the_same_plan_always_has_the_same_layout(plan: Plan, size: Size) -> None:
    assert arrange(plan, size) == arrange(plan, size)


@given(st.integers(1, 4), st.booleans())
def test_four_parallel_branches_fit_on_a_phone(width: int, notes: bool) -> None:
    arranged = arrange(fan(width), NARROW, notes=notes)
    assert arranged.width <= NARROW.width


def test_five_parallel_branches_make_the_drawing_wider_and_keep_the_boxes_readable() -> None:
    arranged = arrange(fan(5), NARROW)
    assert arranged.width > NARROW.width
    assert {box.width for box in arranged.boxes if box.layer == 1} == {NARROW.scrolled}
    assert NARROW.scrolled > NARROW.least


def test_six_parallel_branches_fit_on_a_desk() -> None:
    assert arrange(fan(6), WIDE).width <= WIDE.width


def test_a_chain_is_one_straight_line() -> None:
    arranged = arrange(chain(5))
    assert len({box.x for box in arranged.boxes}) == 1
    assert all(route.points[0][0] == route.points[-1][0] for route in arranged.routes)


def test_a_join_is_in_the_middle_of_its_branches() -> None:
    boxes = by_step(arrange(fan(3)))
    assert boxes["first"].x == boxes["last"].x == boxes["m1"].x


def test_notes_add_one_line_to_each_box() -> None:
    plain, noted = arrange(fan(3)), arrange(fan(3), notes=True)
    assert [box.height + LINE for box in plain.boxes] == [box.height for box in noted.boxes]


def test_a_plan_without_steps_has_an_empty_layout() -> None:
    assert arrange(plan_of({})).boxes == ()


# -- Text ----------------------------------------------------------------------------------------------------------


def test_marks_name_everything_that_a_step_does() -> None:
    step = Step(
        "s", "skill:summary", condition="inputs.a", foreach=Foreach("inputs.b"), while_=While("inputs.c"),
        router=Router("inputs.d", {"x": "data.echo"}), scatter=Scatter(("skill:summary", "data.echo")),
        approvers=Approvers(),
    )  # fmt: skip
    assert layout.marks(step) == MARKS
    assert layout.marks(Step("s", "data.echo")) == ()


def test_a_nested_skill_in_a_router_is_marked() -> None:
    step = Step("s", "", router=Router("inputs.d", {"x": "data.echo"}, default="skill:summary"))
    assert layout.marks(step) == (layout.ROUTER, layout.NESTED)
    assert layout.uses(step) == "1 of 2"


@given(st.sampled_from([0, 1, 3, 7]), st.text("abc.-", min_size=1, max_size=40), SIZES)
def test_marks_and_text_share_a_line_only_if_both_fit(count: int, uses: str, size: Size) -> None:
    has = {"condition": "x", "foreach": Foreach("x"), "while_": While("x"), "approvers": Approvers()}
    step = Step("s", uses, **dict(list(has.items())[: min(count, 4)]))  # type: ignore[arg-type]
    (box,) = arrange(plan_of({"s": []}, s=step), size).boxes
    room = box.width - 2 * size.pad
    beside = 0 if box.marks_apart else MARK * len(box.marks)
    assert len(box.uses) * size.uses_char + beside <= room


@given(st.text("abc-_.", min_size=1, max_size=64), st.integers(2, 30), st.integers(1, 3))
def test_wrapped_names_fit_and_lose_nothing_without_an_ellipsis(text: str, chars: int, lines: int) -> None:
    found = wrap(text, chars, lines)
    assert 1 <= len(found) <= lines
    assert all(0 < len(line) <= chars for line in found)
    whole = "".join(found)
    assert whole == text or (whole.endswith("…") and text.startswith(whole[:-1]))


def test_names_break_after_punctuation() -> None:
    assert wrap("check-register", 9, 2) == ("check-", "register")
    assert wrap("summarise_the_text", 9, 2) == ("summarise", "_the_text")
    assert wrap("summarise", 5, 1) == ("summ…",)


# -- Cost ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plan",
    [chain(500), fan(498), window(500, 41), two_sides(141, 141), two_sides(100, 100, between=300)],
    ids=["chain", "fan", "window", "two sides", "far apart"],
)
def test_the_largest_plans_are_cheap(plan: Plan) -> None:
    arranged = within(1.0, lambda: arrange(plan))
    assert len(arranged.boxes) == len(plan.steps)
    assert sum(len(route.points) for route in arranged.routes) <= 10_000
