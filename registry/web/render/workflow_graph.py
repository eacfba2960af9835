"""The graph of a workflow as SVG, with the same steps as a list."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from registry.core.text.shorten import one_line, shorten
from registry.core.workflows import layout
from registry.core.workflows.layout import LINE, MARK, NARROW, WIDE, Box, Layout, Route
from registry.core.workflows.plan import Plan, Step
from registry.core.workflows.values import Json, canonical

NOT_STARTED = "not started"

# The word of a state, its look and its icon.
STATES = {
    NOT_STARTED: ("Not started", "todo", "todo"),
    "running": ("Running", "running", "play"),
    "waiting": ("Waiting", "waiting", "person"),
    "waiting for you": ("Waiting for you", "waiting", "person"),
    "retrying": ("Retrying", "retrying", "clock"),
    "completed": ("Completed", "done", "check"),
    "failed": ("Failed", "failed", "error"),
    "skipped": ("Skipped", "skipped", "skip"),
    "degraded": ("Degraded", "degraded", "half"),
    "denied": ("Denied", "denied", "x"),
    "cancelled": ("Cancelled", "cancelled", "stop"),
    # In the lineage of a value.
    "contributed": ("Contributed", "contributed", "check"),
    "apart": ("Not involved", "todo", "todo"),
    # In a change of a workflow.
    "added": ("Added", "added", "plus"),
    "changed": ("Changed", "changed", "pencil"),
    "removed": ("Removed", "removed", "x"),
    "unchanged": ("Unchanged", "unchanged", "check"),
}
MARKS = {
    layout.CONDITION: ("Runs on a condition", "ask"),
    layout.ROUTER: ("Chooses by a value", "routing"),
    layout.SCATTER: ("Calls several at once", "spread"),
    layout.FOREACH: ("Runs for each item", "bullets"),
    layout.WHILE: ("Repeats", "repeat"),
    layout.NESTED: ("Runs a skill", "skills"),
    layout.PERSON: ("Asks a person", "person"),
}
_PASSED = ("completed", "skipped", "degraded", "contributed", "added", "changed", "removed", "unchanged")
_FEW_STEPS = 100  # a page with two drawings of more would be large
_MOST_NAMED = 20  # steps that a step waits for
_MOST_CHARS = 160  # of an expression
_BASE = 12  # from the top of a line to its base line
_ICON = 18  # width of the icon of a state with its gap
_NOTE_CHAR = 6.4  # width of a character of a note
_TIP = 5  # height of the tip of an arrow


@dataclass(frozen=True, slots=True)
class State:
    """A state in words, with the end of its CSS classes and its icon."""

    label: str
    look: str
    icon: str


@dataclass(frozen=True, slots=True)
class Sign:
    """A mark of a box, or in the legend, where `x` and `y` are 0."""

    label: str
    icon: str
    x: float = 0
    y: float = 0


@dataclass(frozen=True, slots=True)
class Node:
    """A box with its text. `lines` are base lines and pieces of the name; `note` is empty without a run."""

    box: Box
    title: str
    href: str
    lines: tuple[tuple[int, str], ...]
    uses_y: int
    signs: tuple[Sign, ...]
    state: State | None
    note: str
    note_y: int

    @property
    def inner_width(self) -> float:
        """The width without the border, which would be cut with everything else that is outside the box."""
        return self.box.width - 2

    @property
    def inner_height(self) -> float:
        return self.box.height - 2

    @property
    def icon_y(self) -> int:
        return self.note_y - 11


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow as the data of SVG paths. `look` is empty, or todo for an arrow that the run has not passed."""

    path: str
    tip: str
    look: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """One SVG. `kind` is for the CSS, which shows one of two drawings in a narrow window.

    `icons` is false if the boxes are too narrow for the icon of a state beside its word, which they always have.
    """

    kind: str
    layout: Layout
    edges: tuple[Edge, ...]
    nodes: tuple[Node, ...]
    icons: bool

    @property
    def note_x(self) -> int:
        return self.layout.pad + _ICON * self.icons


@dataclass(frozen=True, slots=True)
class Item:
    """A step of the list. `facts` are phrases, each with an expression or a name behind it."""

    step: Step
    uses: str
    facts: tuple[tuple[str, str], ...]
    state: State | None
    detail: str
    href: str


def draw(
    plan: Plan,
    *,
    states: Mapping[str, str] | None = None,
    details: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    name: str = "workflow",
    lists_steps: bool = True,
) -> SafeString:
    """Return the graph of a plan and the list of its steps as HTML. Without `lists_steps`, the page has its own list.

    All mappings are by step id. `states` are the states of a run: a step without one has not started, and None is for a
    plan without a run. `details` are short remarks such as a duration, `links` make a box a link. `name` starts the ids
    of elements, so it must be different for each graph of a page.
    """
    extras = _Extras(states, details or {}, links or {})
    drawings = [_drawing(plan, kind, arranged, extras) for kind, arranged in _layouts(plan, notes=states is not None)]
    used = {mark for step in plan.steps for mark in layout.marks(step)}
    context = {
        "plan": plan,
        "name": name,
        "drawings": drawings,
        "first": drawings[0].layout,
        "linked": bool(links),
        "legend": [Sign(*MARKS[mark]) for mark in layout.MARKS if mark in used],
        "items": [_item(step, extras) for step in plan.steps],
        "lists_steps": lists_steps,
    }
    return render_to_string("workflows/_graph.html", context)


@dataclass(frozen=True, slots=True)
class _Extras:
    """Information about the steps beside the plan. `states` is None without a run."""

    states: Mapping[str, str] | None
    details: Mapping[str, str]
    links: Mapping[str, str]

    def state(self, step: str) -> State | None:
        if self.states is None:
            return None
        return state_of(self.states.get(step, NOT_STARTED))

    def note(self, step: str, chars: float) -> str:
        """Return the state in words, with the detail if both fit."""
        state, detail = self.state(step), self.details.get(step, "")
        if not state:
            return ""
        return f"{state.label}, {detail}" if detail and len(state.label) + len(detail) + 2 <= chars else state.label


def _layouts(plan: Plan, *, notes: bool) -> Iterator[tuple[str, Layout]]:
    """Yield a drawing for wide windows, and one for narrow windows where that needs no or much less scrolling."""
    wide = layout.arrange(plan, WIDE, notes=notes)
    narrow = layout.arrange(plan, NARROW, notes=notes) if wide.width > NARROW.width else wide
    most = 2 * NARROW.width if len(plan.steps) <= _FEW_STEPS else NARROW.width
    if narrow.width < wide.width and narrow.width <= most:
        yield "wide", wide
        yield "narrow", narrow
    else:
        yield "only", wide


def _drawing(plan: Plan, kind: str, arranged: Layout, extras: _Extras) -> Drawing:
    steps = {step.id: step for step in plan.steps}
    room = min((box.width for box in arranged.boxes), default=0) - 2 * arranged.pad
    icons = room >= _ICON + _NOTE_CHAR * len(STATES[NOT_STARTED][0])
    nodes = tuple(_node(box, steps[box.step], arranged.pad, _ICON * icons, extras) for box in arranged.boxes)
    return Drawing(kind, arranged, tuple(_edge(route, extras.states) for route in arranged.routes), nodes, icons)


def _node(box: Box, step: Step, pad: int, indent: int, extras: _Extras) -> Node:
    """Return a box with its text. `indent` is the room for the icon of its state."""
    lines = tuple((pad + _BASE + LINE * index, piece) for index, piece in enumerate(box.name))
    top = pad + LINE * (len(lines) + box.marks_apart)
    left = pad if box.marks_apart else box.width - pad - MARK * len(box.marks) + MARK - LINE
    signs = tuple(Sign(*MARKS[mark], left + MARK * index, top) for index, mark in enumerate(box.marks))
    note = extras.note(step.id, (box.width - 2 * pad - indent) / _NOTE_CHAR)
    words = (f"{step.id} uses {', '.join(step.used)}", *(sign.label.lower() for sign in signs), note.lower())
    return Node(
        box=box,
        title=shorten("; ".join(word for word in words if word), 2 * _MOST_CHARS),
        href=extras.links.get(step.id, ""),
        lines=lines,
        uses_y=pad + _BASE + LINE * len(lines),
        signs=signs,
        state=extras.state(step.id),
        note=note,
        note_y=top + LINE + _BASE,
    )


def _edge(route: Route, states: Mapping[str, str] | None) -> Edge:
    points = list(route.points)
    x, y = points[-1]
    points[-1] = (x, y - _TIP)
    pieces = [f"M{points[0][0]} {points[0][1]}"]
    for index, ((x1, y1), (x2, y2)) in enumerate(pairwise(points)):
        middle = (y1 + y2) / 2
        straight = index % 2 or x1 == x2
        pieces.append(f"V{y2}" if straight else f"C{x1} {middle} {x2} {middle} {x2} {y2}")
    passed = states is None or states.get(route.source) in _PASSED
    look = "denied" if route.denied else "" if passed else "todo"
    return Edge("".join(pieces), f"M{x} {y}l-3.5-7h7z", look)


# -- The list ------------------------------------------------------------------------------------------------------


def step_facts(step: Step) -> tuple[tuple[str, str], ...]:
    """Return phrases about a step, each with an expression or a name behind it."""
    return tuple((phrase, shorten(one_line(text), _MOST_CHARS)) for phrase, text in _facts(step))


def step_words(step: Step) -> tuple[tuple[str, str], ...]:
    """Return the phrases about a step, and what it gets and gives."""
    given = ", ".join(f"{name}: {_shown(value)}" for name, value in step.input.items())
    written = ", ".join(f"{name} → {target}" for name, target in (step.output or {}).items())
    more = tuple(
        (phrase, shorten(one_line(text), _MOST_CHARS)) for phrase, text in (("gets", given), ("gives", written))
    )
    return (*step_facts(step), *(each for each in more if each[1]))


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else canonical(value)


def state_of(state: str) -> State:
    return State(*STATES.get(state, (state.capitalize(), "todo", "info")))


def _item(step: Step, extras: _Extras) -> Item:
    uses = "" if step.router or step.scatter else step.uses
    detail, href = extras.details.get(step.id, ""), extras.links.get(step.id, "")
    said = step_words(step) if extras.states is None else step_facts(step)
    return Item(step, uses, said, extras.state(step.id), detail, href)


def _facts(step: Step) -> Iterator[tuple[str, str]]:
    if step.depends_on:
        yield f"after {_names(step.depends_on)}", ""
    else:
        yield "at the start", ""
    if step.condition:
        yield "if", step.condition
    if step.router:
        yield "chooses by", step.router.on
        yield from (("for", f"{case}: {used}") for case, used in step.router.cases.items())
        if step.router.default:
            yield "else uses", step.router.default
    if step.scatter:
        yield "uses at once", ", ".join(step.scatter.capabilities)
    if step.foreach:
        yield f"for each {step.foreach.as_} of", step.foreach.items
    if step.while_:
        yield f"again, at most {step.while_.max_iterations:,} times, while", step.while_.condition
    if step.approvers:
        yield "asks a person", ""
    if step.on_deny:
        yield "if denied", step.on_deny


def _names(names: tuple[str, ...]) -> str:
    named = ", ".join(names[:_MOST_NAMED])
    return f"{named} and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else named
