"""Hostile capability files: many fields, references, gates and suggestions, and many files that build on each other."""

from collections.abc import Callable, Iterator

from registry.core.workflows import capability_linking, capability_yaml
from registry.core.workflows.capability_yaml import Draft
from tests.core.workflows.definitions import BUILT_IN, SITE, text
from tests.costs.shape import KB, Shape, repeated

_FILE = 65_536
_NODES = 20 * KB  # of short texts, so that the file has not too many nodes
_X = "x" * 50
_UNITS = ("{a: ", "a: b\n", "a: &a [*a]\n", "<<: *a\n", "'", "- - ", "? ")


def _read(content: str) -> object:
    parsed = capability_yaml.parse(content)
    drafts = [parsed.draft] if parsed.draft else []
    return parsed.findings, capability_linking.link(drafts, BUILT_IN, SITE)


def _list(key: str, start: str, item: Callable[[int], str], end: str, **keys: str) -> Callable[[int], str]:
    """Return a maker of files with as many items as fit."""
    header = text(**{**keys, "description": "x"})

    def make(size: int) -> str:
        parts, number, left = [f"{key}: {start}"], 0, size - len(header) - len(key) - len(end)
        while (part := item(number)) and len(part) <= left:
            parts.append(part)
            number, left = number + 1, left - len(part)
        return f"{header}{''.join(parts)}{end}\n"

    return make


def _binding(rest: str, end: str, item: Callable[[int], str]) -> Callable[[int], str]:
    return _list("binding", f"{{kind: http, url: 'https://a.example', {rest}", item, end, binding="")


_GATES, _MODEL = "{mandatory_pre_gates: [", "{kind: llm, prompt: '"
_READ = f"{{capability: data.echo, input: {{value: input.{_X}y}}}}"
_FILES: dict[str, tuple[Callable[[int], str], int]] = {
    "inputs": (_list("inputs", "{", lambda n: f"a{n}: {{type: string}}, ", "}"), _NODES),
    "types": (_list("inputs", "{", lambda n: f"a{n}: {{type: {'strin' * 20}}}, ", "}"), _FILE),
    "unknown keys": (_list(f"{_X}", "1\n", lambda n: f"{'safet' * 20}{n}: 1\n", ""), _FILE),
    "aliases": (_list("aliases", "[", lambda n: f"a.b{n}, ", "]"), _NODES),
    "gates": (
        _list("safety", _GATES, lambda n: f"{{capability: {'ab.' * 30}c{n}, input: {{a: input.{_X}{n}}}}}, ", "]}"),
        _FILE,
    ),
    "inputs of a gate": (
        _list("safety", f"{_GATES}{{capability: data.echo, input: {{", lambda n: f"{_X}{n}: input.{_X}{n}, ", "}}]}"),
        50 * KB,
    ),
    "gates that read unknown inputs": (
        _list(
            "inputs", "{", lambda n: f"{_X}{n}: {{type: array}}, ", "}",
            safety=f"{_GATES}{', '.join([_READ] * 20)}], mandatory_post_gates: [{', '.join([_READ] * 20)}]}}",
        ),
        60 * KB,
    ),
    "approvers": (_list("safety", "{approvers: {people: [", lambda n: f"a{n}, ", "]}}"), _NODES),
    "hints": (
        _list("cognitive_hints", "{produces: {", lambda n: f"{_X}{n}: {{type: Risk, target: vars.a}}, ", "}}"), _FILE,
    ),
    "headers": (_binding("headers: {", "}}", lambda n: f"X-{n}: secret:{_X}{n}, "), _FILE),
    "references": (_binding("body: [", "]}", lambda n: f"input.{_X}{n}, "), _FILE),
    "one reference": (_binding("body: [", "]}", lambda n: "input.a, "), _NODES),
    "fields of a URL": (
        _list("binding", "{kind: http, url: 'https://a.example/", lambda n: f"{{a{n}}}", "'}", binding=""), 4 * KB,
    ),
    "places of a prompt": (_list("binding", _MODEL, lambda n: f"{{{{a{n}}}}}", "'}", binding=""), 60 * KB),
    "braces of a prompt": (_list("binding", _MODEL, lambda n: "{{ a", "'}", binding=""), 60 * KB),
}  # fmt: skip


def _drafts(content: Callable[[int], str]) -> Callable[[int], list[Draft]]:
    def make(size: int) -> list[Draft]:
        parsed = (capability_yaml.parse(content(number), file=f"{number}.yaml") for number in range(size))
        return [each.draft for each in parsed if each.draft is not None]

    return make


def _link(drafts: list[Draft]) -> object:
    return capability_linking.link(drafts, BUILT_IN, SITE)


_SETS = {
    "that extend the next one": lambda n: text(f"a.c{n}", binding="", extends=f"a.c{n + 1}"),
    "that extend one another": lambda n: text(f"a.c{n}", binding="", extends=f"a.c{n ^ 1}"),
    "that extend unknown ones": lambda n: text(f"{'ab.' * 20}c{n}", binding="", extends=f"{'ab.' * 20}d{n}"),
    "with unknown gates": lambda n: text(f"{'ab.' * 20}c{n}", safety=f"{{mandatory_pre_gates: [{'ab.' * 20}d{n}]}}"),
    "with the same alias": lambda n: text(f"a.c{n}", aliases="[a.b, a.d]"),
    "with the same id": lambda n: text("a.b"),
}


def _shapes() -> Iterator[Shape]:
    for unit in _UNITS:
        make = lambda size, unit=unit: repeated(unit, size)  # noqa: E731
        yield Shape(f"a capability {unit!r}", make, _read, _FILE, quick=True)
    for name, (make, largest) in _FILES.items():
        small = 12 * KB if "unknown inputs" in name else 0
        yield Shape(f"a capability with {name}", make, _read, largest, small, quick=True, light=name == "gates")
    for name, content in _SETS.items():
        yield Shape(f"capabilities {name}", _drafts(content), _link, 1_000, small=100, quick=True)


SHAPES = tuple(_shapes())
