"""Hostile workflow files: many steps, dependencies, references and suggestions."""

from collections.abc import Callable, Iterator
from contextlib import suppress

from registry.core.errors import SkillsiteError
from registry.core.workflows import graph, step_cards, workflow_lint, workflow_yaml
from registry.core.workflows.graph import Node
from registry.core.workflows.step_edits import Steps
from tests.core.workflows.capabilities import capability
from tests.costs.shape import KB, Shape, repeated

_FILE = 65_536
_NODES = 20 * KB  # of short texts, so that the file has not too many nodes
_HEADER = "id: a\nversion: 1\n"
_STEPS = f"{_HEADER}steps:\n"
_CAPABILITIES = {each.id: each for each in (capability(f"{'ab.' * 30}d{number}") for number in range(200))}

_UNITS = (
    "- ",
    "[",
    "{",
    "{a: ",
    "a: b\n",
    "a: &a [*a]\n",
    "<<: *a\n",
    "'",
    "|\n ",
    "\n",
    "#",
    "? ",
    "- - ",
    "é: é\n",
    "1,",
)


def _read(text: str) -> object:
    parsed = workflow_yaml.parse(text)
    return parsed.findings, workflow_lint.lint(parsed, capabilities=_CAPABILITIES, skills=["a" * 60] * 50)


def _edit(text: str) -> None:
    """Write a card into the text, then take the step that others wait for away, as the largest request does."""
    steps = Steps(text)
    document = steps.document
    card = step_cards.card(document, 0, None)
    steps = Steps(steps.write(step_cards.edits(document, card, {"id": "renamed", "condition": "true"}).changes))
    with suppress(SkillsiteError):
        steps.remove(0)
    _read(steps.text)


def _list(header: str, item: Callable[[int], str], end: str = "") -> Callable[[int], str]:
    """Return a maker of files with as many items as fit."""

    def make(size: int) -> str:
        parts, number, left = [header], 0, size - len(header) - len(end)
        while (part := item(number)) and len(part) <= left:
            parts.append(part)
            number, left = number + 1, left - len(part)
        return "".join([*parts, end])

    return make


def _step(rest: str) -> Callable[[int], str]:
    return lambda number: f"- {{id: s{number}, uses: a.b{rest.replace('N', str(number))}}}\n"


_X = "x" * 50
_ONE = f"{_STEPS}- {{id: s, uses: a.b, "
_FILES = {
    "steps": (_list(_STEPS, _step("")), _NODES),
    "steps with unknown dependencies": (_list(_STEPS, _step(f", config: {{depends_on: [{_X}N]}}")), 50 * KB),
    "unknown dependencies of one step": (
        _list(f"{_ONE}config: {{depends_on: [", lambda n: f"s{n:04},", "]}}\n"), 28 * KB,
    ),
    "a circle": (_list(_STEPS, lambda n: f"- {{id: s{n}, uses: a, config: {{depends_on: [s{n ^ 1}]}}}}\n"), _NODES),
    "unknown capabilities": (_list(_STEPS, lambda n: f"- {{id: s{n}, uses: {'ab.' * 30}c{n}}}\n"), 50 * KB),
    "unwritten references": (
        _list(_STEPS, _step(f", input: {{a: vars.{_X}N}}, output: {{a: vars.{_X}qN}}")), 60 * KB,
    ),
    "references to one value": (_list(_STEPS, _step(", input: {a: vars.x.N}, output: {a: vars.x.N}")), _NODES),
    "deep targets": (_list(_STEPS, _step(f", output: {{a: vars{'.aN' * 19}}}")), _FILE),
    "references of one step": (_list(f"{_ONE}input: {{a: [", lambda n: f"vars.x{n:05},", "]}}\n"), 55 * KB),
    "unknown keys": (_list(f"{_STEPS}- {{id: a, uses: a}}\n", lambda n: f"{'steq' * 20}{n}: 1\n"), _FILE),
    "types": (_list(f"{_HEADER}inputs:\n", lambda n: f"  a{n}: {{type: {'strin' * 20}{n}}}\n"), _FILE),
    "cases": (_list(f"{_ONE}config: {{router: {{on: vars.x, cases: {{", lambda n: f"c{n}: B{n},", "}}}}\n"), _NODES),
    "members": (_list(f"{_ONE}config: {{scatter: {{capabilities: [", lambda n: f"a{n},", "]}}}\n"), 28 * KB),
    "conditions": (_list(_STEPS, _step(f", config: {{condition: '{'not ' * 450}vars.x'}}")), _FILE),
    "deep conditions": (_list(_STEPS, _step(f", config: {{condition: '{'(' * 49}vars.x{')' * 49}'}}")), _FILE),
    "long conditions": (lambda size: f"{_ONE}config: {{condition: '{'x' * (size - 80)}'}}}}\n", _FILE),
}  # fmt: skip


def _dependencies(size: int) -> list[Node]:
    """Return 500 steps with this many dependencies together, all on steps before them."""
    ids = [f"s{number:03}" for number in range(500)]
    return [Node(id_, tuple(ids[max(0, at - size // 500) : at])) for at, id_ in enumerate(ids)]


def _every_step_on_every_step(size: int) -> list[Node]:
    ids = tuple(f"s{number:03}" for number in range(size))
    return [Node(id_, ids) for id_ in ids]


def _alias_bomb(size: int) -> str:
    line = "a{0}: &a{0} [*a{1}, *a{1}]\n"
    return "a0: &a0 [x, x]\n" + "".join(line.format(number, number - 1) for number in range(1, size // 30))


def _shapes() -> Iterator[Shape]:
    for unit in _UNITS:
        yield Shape(f"a workflow {unit!r}", lambda size, unit=unit: repeated(unit, size), _read, _FILE, quick=True)
    for name, (make, largest) in _FILES.items():
        yield Shape(f"a workflow with {name}", make, _read, largest, quick=True, light=name == "unwritten references")
    for name in ("steps", "a circle", "unwritten references", "deep targets", "references of one step"):
        make, largest = _FILES[name]
        yield Shape(
            f"edits of a workflow with {name}", make, _edit, largest - 1 * KB, quick=True, light=name == "steps"
        )
    yield Shape("a workflow of aliases", _alias_bomb, _read, _FILE, quick=True)
    yield Shape("steps with dependencies", _dependencies, graph.build, 20_000, small=2_500, quick=True)
    yield Shape("steps that all depend on all", _every_step_on_every_step, graph.build, 500, quick=True, light=True)


SHAPES = tuple(_shapes())
