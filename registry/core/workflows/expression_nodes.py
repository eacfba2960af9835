"""Nodes of parsed expressions, and their evaluation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from registry.core.workflows import comparisons, references
from registry.core.workflows.comparisons import Work
from registry.core.workflows.references import Path, Read
from registry.core.workflows.values import Json


class Scope(NamedTuple):
    """The values of one evaluation, and the work that it may do."""

    read: Read
    local_values: Mapping[str, Json]
    work: Work


class Node(Protocol):
    def evaluate(self, scope: Scope) -> Json: ...


def truthy(value: Json) -> bool:
    """Return False for null, false, 0 and what is empty, as in Python."""
    return bool(value)


@dataclass(frozen=True, slots=True)
class Constant:
    value: Json

    def evaluate(self, scope: Scope) -> Json:
        return self.value


@dataclass(frozen=True, slots=True)
class Reference:
    path: Path

    def evaluate(self, scope: Scope) -> Json:
        try:
            return references.value_of(self.path, scope.read, scope.local_values)
        except references.Unreadable:
            return None


@dataclass(frozen=True, slots=True)
class List:
    items: tuple[Node, ...]

    def evaluate(self, scope: Scope) -> Json:
        return [item.evaluate(scope) for item in self.items]


@dataclass(frozen=True, slots=True)
class Call:
    function: Callable[[Json, Work], Json]
    argument: Node

    def evaluate(self, scope: Scope) -> Json:
        return self.function(self.argument.evaluate(scope), scope.work)


@dataclass(frozen=True, slots=True)
class Comparison:
    left: Node
    operator: str
    right: Node

    def evaluate(self, scope: Scope) -> Json:
        left, right = self.left.evaluate(scope), self.right.evaluate(scope)
        match self.operator:
            case "==":
                return comparisons.equal(left, right, scope.work)
            case "!=":
                return not comparisons.equal(left, right, scope.work)
            case "in":
                return comparisons.contains(right, left, scope.work)
            case "not in":
                return not comparisons.contains(right, left, scope.work)
            case order:
                return comparisons.ordered(left, order, right, scope.work)


@dataclass(frozen=True, slots=True)
class Truth:
    """Compare the truth of a value with the expected one. Any number of `not` is one of these nodes."""

    operand: Node
    expected: bool

    def evaluate(self, scope: Scope) -> Json:
        return truthy(self.operand.evaluate(scope)) is self.expected


@dataclass(frozen=True, slots=True)
class Choice:
    """Choose the first operand with the wanted truth, or the last one. `or` wants a true one, and `and` a false one."""

    wanted: bool
    operands: tuple[Node, ...]

    def evaluate(self, scope: Scope) -> Json:
        value = None
        for operand in self.operands:
            value = operand.evaluate(scope)
            if truthy(value) is self.wanted:
                break
        return value


def _length(value: Json, work: Work) -> int | None:
    """Return the number of characters, items or keys. It is 0 for null, and null for other values."""
    if value is None:
        return 0
    return len(value) if isinstance(value, (str, list, dict)) else None


def _lower(value: Json, work: Work) -> Json:
    """Return text in small letters, and any other value unchanged."""
    if not isinstance(value, str):
        return value
    work.spend(len(value) // 10)  # the result takes memory
    return value.lower()


FUNCTIONS: Mapping[str, Callable[[Json, Work], Json]] = {"len": _length, "lower": _lower}
