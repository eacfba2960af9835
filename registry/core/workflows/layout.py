"""Layout of a workflow graph: boxes in layers from top to bottom, and the routes of the arrows between them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from registry.core.workflows.layers import Layers, Node, layers, neighbours
from registry.core.workflows.plan import SKILL_PREFIX, Plan, Step

# Marks of a box, in the order in which they are shown.
CONDITION, ROUTER, SCATTER, FOREACH, WHILE, NESTED, PERSON = MARKS = (
    "condition",
    "router",
    "scatter",
    "foreach",
    "while",
    "nested",
    "person",
)

LINE, MARK = 16, 18  # of a box: the height of a line, and the width of a mark with its gap
_MARGIN = 2  # around the drawing, for the borders
_LANE = 4  # width of a lane
_GAP, _MOST_GAP = 32, 80  # between two layers; arrows that go far to the side need more
_SWEEPS = 6
_BREAKS = "-_.:/"

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Size:
    """A kind of drawing. `width` is where it should fit, `least` and `most` are widths of boxes.

    A layer that does not fit with boxes of the `least` width is wider anyway, so it gets the readable width `scrolled`.
    `pad` is the space around the text of a box. `name_char` and `uses_char` are the widths of a character, and `lines`
    is how many lines a name may take.
    """

    width: int
    least: int
    most: int
    scrolled: int
    gap: int
    pad: int
    name_char: float
    uses_char: float
    lines: int


WIDE = Size(width=880, least=128, most=192, scrolled=128, gap=16, pad=10, name_char=7.8, uses_char=7.25, lines=2)
NARROW = Size(width=356, least=72, most=128, scrolled=96, gap=8, pad=6, name_char=6.9, uses_char=6.65, lines=3)


@dataclass(frozen=True, slots=True)
class Box:
    """The box of a step. `name` is its id in lines, `uses` is shortened; `marks_apart` have a line of their own."""

    step: str
    layer: int
    x: float
    y: float
    width: float
    height: float
    name: tuple[str, ...]
    uses: str
    marks: tuple[str, ...]
    marks_apart: bool


@dataclass(frozen=True, slots=True)
class Route:
    """An arrow. Between the points 0 and 1, 2 and 3, … it crosses a gap between layers; else it goes straight down."""

    source: str
    target: str
    points: tuple[Point, ...]
    denied: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing. `hidden` arrows are left out; with `implied`, all of them follow from arrows that are drawn."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    hidden: int
    implied: bool
    pad: int  # around the text of a box
    layers: int


def arrange(plan: Plan, size: Size = WIDE, *, notes: bool = False) -> Layout:
    """Place the steps of a plan. `notes` leaves a line in each box for the state of the step.

    Up to four parallel steps fit into the width of a NARROW drawing. A wider layer makes the drawing wider.
    """
    found = layers(plan)
    widths = _widths(found, size)
    centres, total = _centres(found, widths, size.gap)
    steps = {step.id: step for step in plan.steps}
    faces = {name: _face(step, widths[found.layer[name]], size) for name, step in steps.items()}
    heights = [
        2 * size.pad + LINE * max(faces[name].lines + notes for name, _ in row if found.layer[name] == index)
        for index, row in enumerate(found.rows)
    ]
    tops, height = _tops(found, centres, heights)
    boxes = tuple(
        faces[name].box(
            name, layer, centres[name, layer] - widths[layer] / 2, tops[layer], widths[layer], heights[layer]
        )
        for name, layer in ((name, found.layer[name]) for name in plan.order)
    )
    routes = _routes(found, centres, tops, heights)
    return Layout(total, height, boxes, routes, found.hidden, found.implied, size.pad, len(found.rows))


# -- Text of a box -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Face:
    name: tuple[str, ...]
    uses: str
    marks: tuple[str, ...]
    apart: bool

    @property
    def lines(self) -> int:
        return len(self.name) + 1 + self.apart

    def box(self, step: str, layer: int, x: float, y: float, width: float, height: float) -> Box:
        return Box(step, layer, round(x, 1), y, width, height, self.name, self.uses, self.marks, self.apart)


def _face(step: Step, width: float, size: Size) -> _Face:
    room = width - 2 * size.pad
    found = marks(step)
    text = uses(step)
    beside = room - MARK * len(found)
    apart = bool(found) and len(text) * size.uses_char > beside
    return _Face(
        wrap(step.id, int(room / size.name_char), size.lines),
        wrap(text, int((room if apart else beside) / size.uses_char), 1)[0],
        found,
        apart,
    )


def marks(step: Step) -> tuple[str, ...]:
    """Return the marks of a step."""
    has = {
        CONDITION: bool(step.condition),
        ROUTER: step.router is not None,
        SCATTER: step.scatter is not None,
        FOREACH: step.foreach is not None,
        WHILE: step.while_ is not None,
        NESTED: any(name.startswith(SKILL_PREFIX) for name in step.used),
        PERSON: step.approvers is not None,
    }
    return tuple(mark for mark in MARKS if has[mark])


def uses(step: Step) -> str:
    """Return what a step uses in a few words."""
    if step.scatter:
        return f"{len(step.used)} at once"
    return f"1 of {len(step.used)}" if step.router else step.uses


def wrap(text: str, chars: int, lines: int) -> tuple[str, ...]:
    """Break a name into lines, after punctuation where there is some. The last line ends with … if the rest is cut."""
    chars = max(chars, 2)
    found: list[str] = []
    while len(text) > chars and len(found) < lines - 1:
        end = max((index + 1 for index, char in enumerate(text[:chars]) if char in _BREAKS), default=0)
        end = end if end > chars // 3 else chars
        found.append(text[:end])
        text = text[end:]
    return (*found, text if len(text) <= chars else f"{text[: chars - 1]}…")


# -- Places --------------------------------------------------------------------------------------------------------


def _widths(found: Layers, size: Size) -> list[float]:
    """Return for each layer the width of its boxes with which it fits, within the bounds of the drawing."""
    widths = []
    for index, row in enumerate(found.rows):
        boxes = sum(found.layer[name] == index for name, _ in row)
        taken = size.gap * (len(row) - 1) + _LANE * (len(row) - boxes) + 2 * _MARGIN
        fitting = (size.width - taken) // boxes
        widths.append(float(min(fitting, size.most) if fitting >= size.least else size.scrolled))
    return widths


def _centres(found: Layers, widths: Sequence[float], gap: int) -> tuple[dict[Node, float], float]:
    """Return the middle of each node and the width of the drawing: that of its widest layer."""
    wide = {
        (name, layer): widths[layer] if found.layer[name] == layer else float(_LANE)
        for row in found.rows
        for name, layer in row
    }
    total = max((sum(wide[node] + gap for node in row) - gap for row in found.rows), default=0.0) + 2 * _MARGIN
    above, below = neighbours(found.path(arrow) for arrow in found.arrows)
    centres: dict[Node, float] = {}
    for row in found.rows:
        centres.update(_placed(row, {}, wide, gap, total))
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in found.rows if down else found.rows[::-1]:
            near = above if down else below
            wanted = {node: _mean(centres, near.get(node) or (node,)) for node in row}
            centres.update(_placed(row, wanted, wide, gap, total))
    return centres, total


def _mean(centres: Mapping[Node, float], nodes: Sequence[Node]) -> float:
    return sum(centres[node] for node in nodes) / len(nodes)


def _placed(
    row: Sequence[Node], wanted: Mapping[Node, float], wide: Mapping[Node, float], gap: int, total: float
) -> dict[Node, float]:
    """Place a row as close as possible to the wanted centres, without overlap and inside the drawing.

    This is isotonic regression: neighbours that would overlap move as one block to the mean of what they want.
    """
    offsets = [0.0]
    for left, right in pairwise(row):
        offsets.append(offsets[-1] + (wide[left] + wide[right]) / 2 + gap)
    blocks: list[tuple[float, int]] = []  # the mean, and how many nodes
    for node, offset in zip(row, offsets, strict=True):
        mean, count = wanted.get(node, total / 2) - offset, 1
        while blocks and blocks[-1][0] > mean:
            before, more = blocks.pop()
            mean, count = (mean * count + before * more) / (count + more), count + more
        blocks.append((mean, count))
    least = wide[row[0]] / 2 + _MARGIN
    most = total - _MARGIN - wide[row[-1]] / 2 - offsets[-1]
    starts = [min(max(mean, least), most) for mean, count in blocks for _ in range(count)]
    return {node: round(start + offset, 1) for node, start, offset in zip(row, starts, offsets, strict=True)}


def _tops(found: Layers, centres: Mapping[Node, float], heights: Sequence[int]) -> tuple[list[float], float]:
    """Return the top of each layer and the height of the drawing."""
    farthest = [0.0] * (len(heights) + 1)
    for arrow in found.arrows:
        for upper, lower in pairwise(found.path(arrow)):
            farthest[lower[1]] = max(farthest[lower[1]], abs(centres[upper] - centres[lower]))
    tops, y = [], float(_MARGIN)
    for index, height in enumerate(heights):
        if index:
            y += min(_MOST_GAP, _GAP + farthest[index] // 12)
        tops.append(y)
        y += height
    return tops, y + _MARGIN


def _routes(
    found: Layers, centres: Mapping[Node, float], tops: Sequence[float], heights: Sequence[int]
) -> tuple[Route, ...]:
    def points(path: Iterable[Node]) -> tuple[Point, ...]:
        ends = [(centres[node], y) for node in path for y in (tops[node[1]], tops[node[1]] + heights[node[1]])]
        return tuple(ends[1:-1])

    return tuple(Route(arrow.source, arrow.target, points(found.path(arrow)), arrow.denied) for arrow in found.arrows)
