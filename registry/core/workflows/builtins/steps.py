"""Bounds on the steps that Python's engine for regular expressions may need, from the parsed pattern.

The engine is a search with backtracking: where an item can match in several ways, it tries what follows for each of
them. So the bound is computed from the end of the pattern to its start. The bound for an item contains the one for
what follows, as often as the engine may try it. For a repeat of one character class that is once for each length, up
to the longest run of these characters in the text, or only once if what follows must start with another character.

What cannot fail is not tried again: the search ends with the first match, and goes on behind it.
"""

import importlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any

_sre: Any = importlib.import_module("re._constants")

MOST_UNROLLED = 32  # repeats of a group with a smaller maximum are written out
MOST_NODES = 3_000  # visits of items of the pattern, unrolled
MOST_CLEAR = 8  # characters from its start on that tell an alternative from others
MOST_RUNS = 20  # different classes that are repeated
_HUGE = 10**18
_MANY = 10**12  # more than an item may take by itself
_SINGLE = {_sre.LITERAL, _sre.NOT_LITERAL, _sre.IN, _sre.ANY}
_CATEGORIES = {
    _sre.CATEGORY_DIGIT: r"\d",
    _sre.CATEGORY_NOT_DIGIT: r"\D",
    _sre.CATEGORY_SPACE: r"\s",
    _sre.CATEGORY_NOT_SPACE: r"\S",
    _sre.CATEGORY_WORD: r"\w",
    _sre.CATEGORY_NOT_WORD: r"\W",
}
_SAMPLE = "".join(map(chr, range(128))) + "äÄßſéıİKẞ日本٣\u00a0\u2028🙂"  # for bounds without a text
_CLASS_FLAGS = re.IGNORECASE | re.DOTALL | re.ASCII
_REASONS = {
    "ASSERT": "it looks ahead or behind with (?=…) or (?<=…).",
    "ASSERT_NOT": "it looks ahead or behind with (?!…) or (?<!…).",
    "GROUPREF": "it refers back to a group.",
    "GROUPREF_EXISTS": "it asks whether a group has matched.",
    "ATOMIC_GROUP": "it has an atomic group (?>…).",
    "POSSESSIVE_REPEAT": "it has a possessive repeat such as *+ or ++.",
}


class NotAllowed(Exception):
    """The pattern has something whose steps are not bounded. The message completes a sentence."""


@dataclass(frozen=True, slots=True)
class _Tail:
    """The rest of a pattern after some place.

    `first` has the characters of the text that may be first, second and so on, as far as they are clear. `steps` is a
    bound for a failed attempt, and `probe` for one that fails because of one of the characters of `first`.
    """

    steps: int
    fails: bool
    first: tuple[frozenset[str], ...]
    probe: int

    def excludes(self, other: "_Tail") -> bool:
        """Return whether at most one of both can match at any place."""
        return any(mine.isdisjoint(theirs) for mine, theirs in zip(self.first, other.first, strict=False))


_END = _Tail(0, False, (), 0)


def bound(nodes: Sequence[Any], flags: int, text: str) -> int:
    """Return how many steps a search for all matches in a text may take."""
    return _Counter(flags, len(text), "".join(set(text)), text).search(nodes)


def worst(nodes: Sequence[Any], flags: int, size: int) -> int:
    """Return how many steps a search may take in the worst text of a size. Raise NotAllowed for no bound at all."""
    return _Counter(flags, size, "".join({*_SAMPLE, *_literals(nodes)}), None).search(nodes)


class _Counter:
    """Bounds for one pattern and one text. `text` is None for the worst text of the size."""

    def __init__(self, flags: int, size: int, alphabet: str, text: str | None) -> None:
        self._flags, self._size, self._alphabet, self._text = flags, size, alphabet, text
        self._sets: dict[str, frozenset[str]] = {}
        self._runs: dict[frozenset[str], int] = {}
        self._left = MOST_NODES

    def search(self, nodes: Sequence[Any]) -> int:
        pattern = self._sequence(nodes, _END)
        once = pattern.steps + len(nodes) + 1
        begins = bool(nodes) and nodes[0][0] is _sre.AT and nodes[0][1] is _sre.AT_BEGINNING_STRING
        begins = begins or (_is_start(nodes) and not self._flags & re.MULTILINE)
        starts = 1 if begins else self._count(pattern.first[0]) if pattern.first else self._size + 1
        return starts * once + (self._size + 1) * (pattern.probe + 1)

    def _sequence(self, nodes: Iterable[Any], tail: _Tail) -> _Tail:
        return reduce(self._item, reversed(list(nodes)), tail)

    def _item(self, tail: _Tail, node: Any) -> _Tail:
        self._left -= 1
        if self._left < 0:
            raise NotAllowed("it has too many parts inside of repeats.")
        kind, argument = node
        if kind in _SINGLE:
            first = (self._set(node), *tail.first[: MOST_CLEAR - 1])
            return _Tail(_capped(_price(node) + tail.steps), True, first, _price(node) + tail.probe)
        if kind is _sre.AT:
            return _Tail(_capped(1 + tail.steps), True, tail.first, 1 + tail.probe)
        if kind is _sre.SUBPATTERN:
            _, added, removed, inner = argument
            if added or removed:
                raise NotAllowed("it sets flags for a part of the pattern. Set them at its start.")
            return self._sequence(inner, tail)
        if kind is _sre.BRANCH:
            return self._either([self._sequence(branch, tail) for branch in argument[1]])
        if kind in (_sre.MAX_REPEAT, _sre.MIN_REPEAT):
            least, most, inner = argument
            return self._repeat(least, most, inner, tail)
        raise NotAllowed(_REASONS.get(str(kind), "it uses something that is not supported."))

    def _either(self, tails: Sequence[_Tail]) -> _Tail:
        self._left -= len(tails) ** 2 // 16
        apart = all(one.excludes(other) for one, other in combinations(tails, 2))
        probe = sum(tail.probe for tail in tails) + 1
        tried = (max if apart else sum)(tail.steps for tail in tails)
        return _Tail(_capped(tried + probe), all(tail.fails for tail in tails), _union(*tails), _capped(probe))

    def _repeat(self, least: int, most: int, item: Sequence[Any], tail: _Tail) -> _Tail:
        if len(item) == 1 and item[0][0] in _SINGLE:
            return self._repeated_class(least, most, item[0], tail)
        if most <= MOST_UNROLLED:
            for number in range(most, 0, -1):
                once = self._sequence(item, tail)
                tail = once if number <= least else self._either([once, tail])
            return tail
        return self._repeated_group(least, most, item, tail)

    def _repeated_class(self, least: int, most: int, node: Any, tail: _Tail) -> _Tail:
        members, price = self._set(node), _price(node)
        run = min(most, self._run(members))
        if not tail.fails:
            steps = (least + 1) * price
        elif tail.first and members.isdisjoint(tail.first[0]):
            steps = (run + 1) * (price + tail.probe) + tail.steps
        else:
            steps = run * price + (max(run - least, 0) + 1) * tail.steps
        if least:
            return _Tail(_capped(steps), True, (members,), price)
        first = (members | tail.first[0],) if tail.first else ()
        return _Tail(_capped(steps), tail.fails, first, price + tail.probe)

    def _repeated_group(self, least: int, most: int, item: Sequence[Any], tail: _Tail) -> _Tail:
        """Return the bound for a loop whose item can match in one way only, so that the loop never branches."""
        start = self._sequence(item, _Tail(0, True, (), 0))
        width = sum(_width(node) for node in item)
        if not width:
            raise NotAllowed("it repeats something that may be empty.")
        both = _union(start, tail)
        again = both if tail.fails else ()
        own = self._sequence(item, _Tail(0, True, again, 1)).steps + 3
        if own >= _MANY // 2 or self._sequence(item, _Tail(_MANY, True, again, 1)).steps >= 2 * _MANY:
            raise NotAllowed("it repeats a group that can match in several ways, such as (a+)+ or (a|ab)*.")
        rounds = min(most, self._run(self._members(item)) // width + 1)
        if not tail.fails:
            return _Tail(_capped((least + 1) * own), bool(least), start.first if least else (), start.probe + 1)
        after = tail.probe if start.excludes(tail) else tail.steps
        steps = _capped(rounds * (own + after) + own + tail.steps)
        return _Tail(steps, True, start.first if least else both, start.probe + 1 + (0 if least else tail.probe))

    def _set(self, node: Any) -> frozenset[str]:
        """Return the characters of the text that a class matches."""
        source = _source(node)
        if source not in self._sets:
            self._sets[source] = frozenset(re.findall(source, self._alphabet, self._flags & _CLASS_FLAGS))
        return self._sets[source]

    def _count(self, members: frozenset[str]) -> int:
        """Return the number of these characters in the text."""
        if self._text is None:
            return self._size
        return sum(map(self._text.count, members)) if len(members) < MOST_RUNS else len(self._text)

    def _members(self, nodes: Iterable[Any]) -> frozenset[str]:
        """Return all characters that the classes in a part of the pattern match."""
        return frozenset().union(*map(self._set, _classes(nodes)))

    def _run(self, members: frozenset[str]) -> int:
        """Return the length of the longest run of these characters in the text."""
        if members not in self._runs:
            if len(self._runs) == MOST_RUNS:
                raise NotAllowed(f"it repeats more than {MOST_RUNS} different characters or classes.")
            self._runs[members] = self._size if self._text is None else _longest_run(members, self._text)
        return self._runs[members]


def _longest_run(members: frozenset[str], text: str) -> int:
    return max(map(len, re.findall(f"[{re.escape(''.join(members))}]+", text)), default=0) if members else 0


def _classes(nodes: Iterable[Any]) -> Iterator[Any]:
    for kind, argument in nodes:
        if kind in _SINGLE:
            yield kind, argument
        elif kind is _sre.SUBPATTERN:
            yield from _classes(argument[3])
        elif kind is _sre.BRANCH:
            yield from (node for branch in argument[1] for node in _classes(branch))
        elif kind in (_sre.MAX_REPEAT, _sre.MIN_REPEAT):
            yield from _classes(argument[2])


def _union(*tails: _Tail) -> tuple[frozenset[str], ...]:
    """Return the characters that any of them may start with, if these are clear for all."""
    if not all(tail.first for tail in tails):
        return ()
    return (frozenset().union(*(tail.first[0] for tail in tails)),)


def _literals(nodes: Iterable[Any]) -> Iterator[str]:
    """Yield the characters in a pattern, and the ends of its ranges."""
    for kind, argument in _classes(nodes):
        for part, value in argument if kind is _sre.IN else ((kind, argument),):
            if part in (_sre.LITERAL, _sre.NOT_LITERAL):
                yield chr(value)
            elif part is _sre.RANGE:
                yield from map(chr, value)


def _is_start(nodes: Sequence[Any]) -> bool:
    return bool(nodes) and nodes[0][0] is _sre.AT and nodes[0][1] is _sre.AT_BEGINNING


def _width(node: Any) -> int:
    """Return the fewest characters that an item matches. Items with unbounded steps are refused elsewhere."""
    kind, argument = node
    if kind in _SINGLE:
        return 1
    if kind is _sre.SUBPATTERN:
        return sum(map(_width, argument[3]))
    if kind is _sre.BRANCH:
        return min(sum(map(_width, branch)) for branch in argument[1])
    if kind in (_sre.MAX_REPEAT, _sre.MIN_REPEAT):
        return int(argument[0]) * sum(map(_width, argument[2]))
    return 0


def _price(node: Any) -> int:
    """Return the steps for one character. The engine looks at the parts of a class one by one."""
    return 1 + (len(node[1]) // 4 if node[0] is _sre.IN else 0)


def _source(node: Any) -> str:
    """Return a pattern for one character: what was parsed, written again."""
    kind, argument = node
    if kind is _sre.LITERAL:
        return re.escape(chr(argument))
    if kind is _sre.NOT_LITERAL:
        return f"[^{re.escape(chr(argument))}]"
    return "." if kind is _sre.ANY else f"[{''.join(_parts(argument))}]"


def _parts(parts: Iterable[Any]) -> Iterator[str]:
    for kind, argument in parts:
        if kind is _sre.NEGATE:
            yield "^"
        elif kind is _sre.LITERAL:
            yield re.escape(chr(argument))
        elif kind is _sre.RANGE:
            yield f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
        else:
            yield _CATEGORIES[argument]


def _capped(steps: int) -> int:
    return min(steps, _HUGE)
