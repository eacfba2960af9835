"""Layers of a workflow graph: every step is in a later layer than the steps it waits for."""

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from registry.core.workflows.plan import Plan

MOST_ARROWS = 1_000  # in a drawing
MOST_LANES = 2_000  # in a drawing
MANY_LANES = 8  # in one layer; with more, the arrows that others imply are left out
_SWEEPS = 8

# The place of a step in its own layer, or in a later layer the lane where its arrows pass.
Node = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from a step to a step that waits for it, or with `denied` to its `on_deny`."""

    source: str
    target: str
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Layers:
    """`rows` has the nodes of each layer from left to right, `layer` the layer of each step.

    `hidden` arrows are left out. With `implied`, all of them follow from arrows that are in `arrows`.
    """

    rows: tuple[tuple[Node, ...], ...]
    layer: Mapping[str, int]
    arrows: tuple[Arrow, ...]
    hidden: int
    implied: bool

    def path(self, arrow: Arrow) -> list[Node]:
        """Return the nodes that an arrow connects, from its source to its target."""
        return _path(arrow, self.layer)


def layers(plan: Plan) -> Layers:
    """Return the layers of a plan, ordered so that few arrows cross."""
    arrows = _arrows(plan)
    layer = _longest_paths(plan.order, arrows)
    shown, implied = _shown(plan.order, arrows, layer)
    rows = _rows(plan, shown, layer)
    return Layers(_ordered(rows, shown, layer), layer, shown, len(arrows) - len(shown), implied)


def _arrows(plan: Plan) -> tuple[Arrow, ...]:
    """Return the arrows in the order of their targets. An `on_deny` that runs earlier anyway gets none."""
    place = {name: index for index, name in enumerate(plan.order)}
    steps = {step.id: step for step in plan.steps}
    found: dict[tuple[str, str], Arrow] = {}
    for name in plan.order:
        for source in steps[name].depends_on:
            found[source, name] = Arrow(source, name)
    for name in plan.order:
        target = steps[name].on_deny
        if place.get(target, -1) > place[name]:
            found.setdefault((name, target), Arrow(name, target, denied=True))
    return tuple(found.values())


def _longest_paths(order: Sequence[str], arrows: Iterable[Arrow]) -> dict[str, int]:
    sources = defaultdict(list)
    for arrow in arrows:
        sources[arrow.target].append(arrow.source)
    layer: dict[str, int] = {}
    for name in order:
        layer[name] = 1 + max((layer[source] for source in sources[name]), default=-1)
    return layer


# -- Arrows that are drawn -----------------------------------------------------------------------------------------


def _shown(order: Sequence[str], arrows: tuple[Arrow, ...], layer: Mapping[str, int]) -> tuple[tuple[Arrow, ...], bool]:
    """Return as many arrows as can be drawn, and whether they imply all others.

    The last resort is one arrow to each step. Without long arrows the picture stays connected, because every step below
    the first layer waits for one of the layer before.
    """
    if _drawable(arrows, layer, MANY_LANES):
        return arrows, True
    needed = _not_implied(order, arrows)
    if _drawable(needed, layer):
        return needed, True
    near = tuple(arrow for arrow in needed if layer[arrow.target] == layer[arrow.source] + 1)
    if _drawable(near, layer):
        return near, False
    return tuple({arrow.target: arrow for arrow in reversed(near)}.values())[::-1], False


def _drawable(arrows: Sequence[Arrow], layer: Mapping[str, int], most_in_layer: int = MOST_LANES) -> bool:
    end = _ends(arrows, layer)
    in_layer = [0] * (max(layer.values(), default=0) + 2)
    for source, last in end.items():
        in_layer[layer[source] + 1] += 1
        in_layer[last] -= 1
    total = widest = lanes = 0
    for change in in_layer:
        lanes += change
        total += lanes
        widest = max(widest, lanes)
    return len(arrows) <= MOST_ARROWS and total <= MOST_LANES and widest <= most_in_layer


def _ends(arrows: Iterable[Arrow], layer: Mapping[str, int]) -> dict[str, int]:
    """Return the last layer that the arrows of each step reach."""
    end: dict[str, int] = {}
    for arrow in arrows:
        end[arrow.source] = max(end.get(arrow.source, 0), layer[arrow.target])
    return end


def _not_implied(order: Sequence[str], arrows: Iterable[Arrow]) -> tuple[Arrow, ...]:
    """Return the transitive reduction. Sets of steps are the bits of a number, so that 20,000 arrows are cheap."""
    bit = {name: 1 << index for index, name in enumerate(order)}
    into = defaultdict(list)
    for arrow in arrows:
        into[arrow.target].append(arrow)
    before: dict[str, int] = {}
    needed = []
    for name in order:
        implied = 0
        for arrow in into[name]:
            implied |= before[arrow.source]
        needed += [arrow for arrow in into[name] if not implied & bit[arrow.source]]
        before[name] = implied
        for arrow in into[name]:
            before[name] |= bit[arrow.source]
    return tuple(needed)


# -- Order in a layer ----------------------------------------------------------------------------------------------


def _path(arrow: Arrow, layer: Mapping[str, int]) -> list[Node]:
    lanes = [(arrow.source, each) for each in range(layer[arrow.source], layer[arrow.target])]
    return [*lanes, (arrow.target, layer[arrow.target])]


def _rows(plan: Plan, arrows: Iterable[Arrow], layer: Mapping[str, int]) -> list[list[Node]]:
    """Return the nodes of each layer in the order of the file. The arrows of a step share its lanes."""
    end = _ends(arrows, layer)
    rows: list[list[Node]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for step in plan.steps:
        first = layer[step.id]
        for each in range(first, max(first + 1, end.get(step.id, 0))):
            rows[each].append((step.id, each))
    return rows


def neighbours(paths: Iterable[Sequence[Node]]) -> tuple[dict[Node, list[Node]], dict[Node, list[Node]]]:
    """Return for each node the nodes in the layer above, and in the layer below, that arrows connect with it."""
    above: dict[Node, list[Node]] = defaultdict(list)
    below: dict[Node, list[Node]] = defaultdict(list)
    for upper, lower in dict.fromkeys(pair for path in paths for pair in pairwise(path)):
        above[lower].append(upper)
        below[upper].append(lower)
    return above, below


def _ordered(rows: list[list[Node]], arrows: Iterable[Arrow], layer: Mapping[str, int]) -> tuple[tuple[Node, ...], ...]:
    """Sort each row by the mean place of its neighbours, down and up again. Return the order with fewest crossings."""
    above, below = neighbours(_path(arrow, layer) for arrow in arrows)
    best, fewest = rows, crossings(rows, below)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        rows = _swept(rows if down else rows[::-1], (above if down else below).get)
        rows = rows if down else rows[::-1]
        count = crossings(rows, below)
        if count < fewest:
            best, fewest = rows, count
    return tuple(map(tuple, best))


def _swept(rows: Sequence[Sequence[Node]], known: Callable[[Node], list[Node] | None]) -> list[list[Node]]:
    place: dict[Node, int] = {}
    swept = []
    for row in rows:
        mean = {}
        for index, node in enumerate(row):
            near = known(node)
            mean[node] = sum(place[each] for each in near) / len(near) if near else float(index)
        ordered = sorted(row, key=mean.__getitem__)
        place.update((node, index) for index, node in enumerate(ordered))
        swept.append(ordered)
    return swept


def crossings(rows: Sequence[Sequence[Node]], below: Mapping[Node, Sequence[Node]]) -> int:
    """Return how often arrows cross between layers."""
    count = 0
    for upper, lower in pairwise(rows):
        place = {node: index for index, node in enumerate(lower)}
        passed: list[int] = []
        for node in upper:
            ends = sorted(place[each] for each in below.get(node, ()))
            count += sum(len(passed) - bisect_right(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return count
