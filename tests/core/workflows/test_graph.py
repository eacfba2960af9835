"""Dependencies of steps: implicit ones, order, and every fault with its place."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.workflows import graph
from registry.core.workflows.graph import Graph, Node


def node(id_: str, *depends_on: str, on_deny: str = "") -> Node:
    return Node(id_, depends_on, on_deny, ("steps", id_))


def after(id_: str, on_deny: str = "") -> Node:
    """Return a step without `depends_on`."""
    return Node(id_, None, on_deny, ("steps", id_))


def build(*nodes: Node) -> Graph:
    return graph.build(nodes)


def test_a_step_without_dependencies_in_the_file_waits_for_the_step_before_it() -> None:
    built = build(after("a"), after("b"), after("c"))
    assert built == Graph(((), ("a",), ("b",)), ("a", "b", "c"), ())


def test_an_empty_list_waits_for_nothing() -> None:
    assert build(after("a"), node("b"), after("c")).depends_on == ((), (), ("b",))


def test_a_dependency_that_is_named_twice_counts_once() -> None:
    assert build(node("a"), node("b", "a", "a")).depends_on == ((), ("a",))


def test_a_diamond_runs_in_the_order_of_the_file() -> None:
    built = build(node("d", "b", "c"), node("c", "a"), node("b", "a"), node("a"))
    assert built.order == ("a", "c", "b", "d")


def test_a_step_for_a_denial_waits_for_the_steps_that_name_it() -> None:
    built = build(after("a", "d"), after("b", "d"), after("c"), after("d"), after("e"))
    assert built.depends_on == ((), ("a",), ("b",), ("a", "b"), ("c",))


def test_a_step_for_a_denial_is_never_the_step_before_another() -> None:
    assert build(after("a", "b"), after("b"), after("c")).depends_on == ((), ("a",), ("a",))


def test_a_first_step_for_a_denial_leaves_the_next_step_without_a_predecessor() -> None:
    built = build(after("b"), after("a", "b"))
    assert built.depends_on == (("a",), ())
    assert [fault.rule for fault in built.faults] == [graph.ON_DENY]


def only(*nodes: Node) -> graph.Fault:
    built = build(*nodes)
    assert built.order == ()
    (fault,) = built.faults
    return fault


@pytest.mark.parametrize(
    ("nodes", "rule", "step", "message", "fix"),
    [
        ([], graph.EMPTY, None, "The workflow has no steps.", "Add at least one step."),
        ([node("first"), node("x", "frist")], graph.UNKNOWN, "x", "Step 'x' depends on unknown step 'frist'.",
         "Did you mean 'first'?"),
        ([node("a", "qqq")], graph.UNKNOWN, "a", "Step 'a' depends on unknown step 'qqq'.",
         "Use the id of a step in this file."),
        ([node("a", "a")], graph.ITSELF, "a", "Step 'a' depends on itself.", "Remove it from `depends_on`."),
        ([node("a"), node("b"), node("a")], graph.DUPLICATE, "a", "Another step has the id 'a' too.",
         "Give each step an id of its own."),
        ([node("b", "a"), node("a", "b")], graph.CYCLE, "b",
         "Circular dependency detected among steps: a, b", "Remove one of these dependencies."),
        ([node("a", on_deny="bb"), node("b", "a")], graph.ON_DENY, "a",
         "`on_deny` of step 'a' names the unknown step 'bb'.", "Did you mean 'b'?"),
        ([node("b"), node("a", on_deny="b")], graph.ON_DENY, "a",
         "`on_deny` of step 'a' names a step that is not below it.", "Name a step further down in the file."),
        ([node("a", on_deny="a")], graph.ON_DENY, "a",
         "`on_deny` of step 'a' names a step that is not below it.", "Name a step further down in the file."),
        ([node("a", on_deny="b"), node("b")], graph.ON_DENY, "b",
         "Step 'b' runs if step 'a' is denied, but does not wait for it.",
         "Add 'a' to `depends_on`, or leave `depends_on` out."),
    ],
)  # fmt: skip
def test_a_fault_names_the_step_and_the_fix(
    nodes: list[Node], rule: str, step: str | None, message: str, fix: str
) -> None:
    fault = only(*nodes)
    assert (fault.rule, fault.message, fault.fix) == (rule, message, fix)
    assert fault.path[:2] == (("steps", step) if step else ("steps",))


def test_each_circle_is_named_without_the_steps_between_and_behind_them() -> None:
    built = build(
        node("start"), node("a", "b"), node("b", "a", "start"), node("between", "b"), node("x", "y", "between"),
        node("y", "z"), node("z", "x"), node("behind", "x"),
    )  # fmt: skip
    found = [fault.message for fault in built.faults]
    assert found == [
        "Circular dependency detected among steps: a, b",
        "Circular dependency detected among steps: x, y, z",
    ]


def test_a_circle_of_all_steps_is_named_in_short() -> None:
    fault = only(*(node(f"s{at:03}", f"s{(at + 1) % 500:03}") for at in range(500)))
    assert fault.message.endswith("s018, s019 and 480 more")


def test_all_faults_are_found_at_once() -> None:
    built = build(node("a", "a", "x"), node("b", "c"), node("c", "b"), node("a", "y"))
    assert [fault.rule for fault in built.faults] == [
        graph.DUPLICATE, graph.ITSELF, graph.UNKNOWN, graph.UNKNOWN, graph.CYCLE,
    ]  # fmt: skip


def test_too_many_steps_and_dependencies_are_refused_before_they_are_followed() -> None:
    assert only(*(after(f"s{at}") for at in range(501))).rule == graph.MANY
    every = [f"s{at}" for at in range(500)]
    assert only(*(node(name, *every) for name in every)).rule == graph.TOO_MANY


def test_the_largest_graph_is_sorted() -> None:
    nodes = [node(f"s{at}", *(f"s{before}" for before in range(max(0, at - 40), at))) for at in range(500)]
    assert build(*nodes).order == tuple(each.id for each in nodes)


@st.composite
def graphs(draw: st.DrawFn, *, acyclic: bool) -> list[Node]:
    count = draw(st.integers(1, 12))
    order = draw(st.permutations(range(count)))
    rank = {at: place for place, at in enumerate(order)}
    nodes = []
    for at in range(count):
        allowed = [other for other in range(count) if other != at and (not acyclic or rank[other] < rank[at])]
        chosen = draw(st.lists(st.sampled_from(allowed), max_size=4)) if allowed else []
        nodes.append(node(f"s{at}", *(f"s{other}" for other in chosen)))
    return nodes


@given(graphs(acyclic=True))
def test_every_graph_without_a_circle_has_an_order_in_which_no_step_is_early(nodes: list[Node]) -> None:
    built = graph.build(nodes)
    assert not built.faults
    assert sorted(built.order) == sorted(each.id for each in nodes)
    place = {id_: at for at, id_ in enumerate(built.order)}
    assert all(place[name] < place[each.id] for each in nodes for name in each.depends_on or ())


@given(graphs(acyclic=True))
def test_of_the_steps_that_could_be_next_the_first_in_the_file_is_next(nodes: list[Node]) -> None:
    done: set[str] = set()
    for id_ in graph.build(nodes).order:
        ready = [each.id for each in nodes if each.id not in done and done.issuperset(each.depends_on or ())]
        assert id_ == ready[0]
        done.add(id_)


def reaches(nodes: Sequence[Node], start: str, goal: str) -> bool:
    edges = {each.id: each.depends_on or () for each in nodes}
    found, open_ = set(), list(edges[start])
    while open_:
        name = open_.pop()
        if name not in found:
            found.add(name)
            open_ += edges[name]
    return goal in found


@given(graphs(acyclic=False))
def test_exactly_the_steps_that_wait_for_themselves_are_on_a_circle(nodes: list[Node]) -> None:
    built = graph.build(nodes)
    named = [fault.message.partition(": ")[2].split(", ") for fault in built.faults]
    on_circles = {each.id for each in nodes if reaches(nodes, each.id, each.id)}
    assert sorted(name for names in named for name in names) == sorted(on_circles)
    for names in named:
        assert names == sorted(names)
        assert all(reaches(nodes, one, other) for one in names for other in names)
    assert bool(built.order) == (not on_circles)
