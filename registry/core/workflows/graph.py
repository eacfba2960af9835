"""Dependencies of steps: which step waits for which, in which order they can run, and why they cannot."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from registry.core.format.strict_yaml import Path
from registry.core.format.yaml_errors import clip
from registry.core.text.nearest import nearest_of
from registry.core.workflows.plan import MOST_STEPS

EMPTY, MANY, DUPLICATE = "workflow-steps-empty", "workflow-steps-many", "workflow-step-duplicate"
UNKNOWN, ITSELF, CYCLE = "workflow-depends-unknown", "workflow-depends-self", "workflow-depends-cycle"
TOO_MANY, ON_DENY = "workflow-depends-many", "workflow-on-deny"

MOST_DEPENDENCIES = 20_000
_NAMED = 20  # steps in one message


@dataclass(frozen=True, slots=True)
class Node:
    """A step as the graph sees it. `depends_on` is None if the file leaves it out."""

    id: str
    depends_on: tuple[str, ...] | None = None
    on_deny: str = ""
    path: Path = ()


class Fault(NamedTuple):
    rule: str
    path: Path
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class Graph:
    """The steps that each step waits for, in the order of `nodes`, and an order that can run.

    `order` is empty if there are faults.
    """

    depends_on: tuple[tuple[str, ...], ...]
    order: tuple[str, ...]
    faults: tuple[Fault, ...]


def build(nodes: Sequence[Node]) -> Graph:
    """Complete the dependencies and sort the steps, with the order of the file where several could be next."""
    depends_on = resolved(nodes)
    faults = [*_size(nodes, depends_on)] or [
        *_duplicates(nodes),
        *_unknown(nodes, depends_on),
        *_on_deny(nodes, depends_on),
    ]
    if faults and faults[0].rule in (EMPTY, MANY, TOO_MANY):
        return Graph(depends_on, (), tuple(faults))
    numbers = {node.id: at for at, node in reversed(list(enumerate(nodes)))}
    before = [
        [numbers[name] for name in names if name in numbers and name != node.id]
        for node, names in zip(nodes, depends_on, strict=True)
    ]
    order = _kahn(before)
    if len(order) < len(nodes):
        faults += _cycles(nodes, before, set(range(len(nodes))).difference(order))
    return Graph(depends_on, () if faults else tuple(nodes[at].id for at in order), tuple(faults))


def resolved(nodes: Sequence[Node]) -> tuple[tuple[str, ...], ...]:
    """Return the ids that each step waits for.

    A step without `depends_on` waits for the step before it. A step that others name in `on_deny` waits for them, and
    is not the step before any other.
    """
    deniers: dict[str, list[str]] = {}
    for node in nodes:
        if node.on_deny:
            deniers.setdefault(node.on_deny, []).append(node.id)
    found: list[tuple[str, ...]] = []
    previous: tuple[str, ...] = ()
    for node in nodes:
        implicit = tuple(deniers[node.id]) if node.id in deniers else previous
        found.append(tuple(dict.fromkeys(implicit if node.depends_on is None else node.depends_on)))
        if node.id not in deniers:
            previous = (node.id,)
    return tuple(found)


def _size(nodes: Sequence[Node], depends_on: Sequence[Sequence[str]]) -> Iterator[Fault]:
    if not nodes:
        yield Fault(EMPTY, ("steps",), "The workflow has no steps.", "Add at least one step.")
    if len(nodes) > MOST_STEPS:
        message = f"The workflow has {len(nodes):,} steps. {MOST_STEPS} are allowed."
        yield Fault(MANY, ("steps",), message, "Move some steps to a nested skill.")
    count = sum(map(len, depends_on))
    if count > MOST_DEPENDENCIES:
        message = f"The steps have {count:,} dependencies together. {MOST_DEPENDENCIES:,} are allowed."
        yield Fault(TOO_MANY, ("steps",), message, "Name only the steps that a step waits for directly.")


def _duplicates(nodes: Sequence[Node]) -> Iterator[Fault]:
    seen: set[str] = set()
    for node in nodes:
        if node.id and node.id in seen:
            message = f"Another step has the id '{clip(node.id)}' too."
            yield Fault(DUPLICATE, (*node.path, "id"), message, "Give each step an id of its own.")
        seen.add(node.id)


def _unknown(nodes: Sequence[Node], depends_on: Sequence[Sequence[str]]) -> Iterator[Fault]:
    known = {node.id for node in nodes}
    nearest = nearest_of(sorted(filter(None, known)), cutoff=0.5)
    for node, names in zip(nodes, depends_on, strict=True):
        path = (*node.path, "config", "depends_on")
        for name in names if node.depends_on is not None else ():
            if name == node.id:
                message = f"Step '{clip(node.id)}' depends on itself."
                yield Fault(ITSELF, path, message, "Remove it from `depends_on`.")
            elif name not in known:
                message = f"Step '{clip(node.id)}' depends on unknown step '{clip(name)}'."
                yield Fault(UNKNOWN, path, message, _instead(nearest(name)))


def _on_deny(nodes: Sequence[Node], depends_on: Sequence[Sequence[str]]) -> Iterator[Fault]:
    numbers = {node.id: at for at, node in enumerate(nodes)}
    later = "Name a step further down in the file."
    nearest = nearest_of(sorted(filter(None, numbers)), cutoff=0.5)
    for at, node in enumerate(nodes):
        path = (*node.path, "config", "on_deny")
        target = numbers.get(node.on_deny) if node.on_deny else None
        if node.on_deny and target is None:
            message = f"`on_deny` of step '{clip(node.id)}' names the unknown step '{clip(node.on_deny)}'."
            yield Fault(ON_DENY, path, message, _instead(nearest(node.on_deny)))
        elif target is not None and target <= at:
            message = f"`on_deny` of step '{clip(node.id)}' names a step that is not below it."
            yield Fault(ON_DENY, path, message, later)
        elif target is not None and node.id not in depends_on[target]:
            message = f"Step '{clip(node.on_deny)}' runs if step '{clip(node.id)}' is denied, but does not wait for it."
            path = (*nodes[target].path, "config", "depends_on")
            yield Fault(ON_DENY, path, message, f"Add '{clip(node.id)}' to `depends_on`, or leave `depends_on` out.")


def _instead(near: str) -> str:
    return f"Did you mean '{near}'?" if near else "Use the id of a step in this file."


def _kahn(before: Sequence[Sequence[int]]) -> list[int]:
    """Return the steps in an order that can run. Steps on cycles and behind them are missing."""
    waiting = [len(names) for names in before]
    after = _reversed(before)
    ready = [at for at, count in enumerate(waiting) if not count]
    order = []
    while ready:
        at = heapq.heappop(ready)
        order.append(at)
        for follower in after[at]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, follower)
    return order


def _reversed(before: Sequence[Sequence[int]]) -> list[list[int]]:
    after: list[list[int]] = [[] for _ in before]
    for at, names in enumerate(before):
        for name in names:
            after[name].append(at)
    return after


def _cycles(nodes: Sequence[Node], before: Sequence[Sequence[int]], left: set[int]) -> Iterator[Fault]:
    """Yield one fault for each group of steps that wait for each other. Steps behind them are fine."""
    for group in _components({at: [name for name in before[at] if name in left] for at in sorted(left)}):
        names = sorted(nodes[at].id for at in group)
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        message = f"Circular dependency detected among steps: {', '.join(map(clip, names[:_NAMED]))}{more}"
        path = (*nodes[min(group)].path, "config", "depends_on")
        yield Fault(CYCLE, path, message, "Remove one of these dependencies.")


def _components(edges: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Return the strongly connected components of two nodes and more, by Tarjan's algorithm with a stack of its own."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_: list[int] = []
    on_stack: set[int] = set()
    found = []
    for root in edges:
        work = [(root, iter(edges[root]))] if root not in index else []
        while work:
            node, rest = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                open_.append(node)
                on_stack.add(node)
            following = next((each for each in rest if each not in index or each in on_stack), None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    cut = open_.index(node)
                    group, open_[cut:] = open_[cut:], []
                    on_stack.difference_update(group)
                    if len(group) > 1:
                        found.append(group)
            elif following in index:
                low[node] = min(low[node], index[following])
            else:
                work.append((following, iter(edges[following])))
    return found
