"""A slow matcher with backtracking, like the engine of Python, that counts its steps."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from registry.core.workflows.builtins import patterns, steps

_sre: Any = steps._sre


class _Enough(Exception):
    """More steps than anybody wants to count."""


class _Matcher:
    """Matches items from the left. `go_on` continues at a position with what follows."""

    def __init__(self, flags: int, text: str, most: int) -> None:
        self._flags, self._text, self._most = flags & steps._CLASS_FLAGS, text, most
        self._multiline = bool(flags & re.MULTILINE)
        self.count = 0

    def match(self, nodes: Sequence[Any], at: int, go_on: Callable[[int], int | None]) -> int | None:
        """Return the end of the whole match, or None."""
        if not nodes:
            return go_on(at)
        return self._item(nodes[0], at, lambda after: self.match(nodes[1:], after, go_on))

    def _item(self, node: Any, at: int, go_on: Callable[[int], int | None]) -> int | None:
        kind, argument = node
        if kind is _sre.SUBPATTERN:
            return self.match(argument[3], at, go_on)
        if kind is _sre.BRANCH:
            ends = (self.match(branch, at, go_on) for branch in argument[1])
            return next((end for end in ends if end is not None), None)
        if kind in (_sre.MAX_REPEAT, _sre.MIN_REPEAT):
            return self._repeat(kind is _sre.MIN_REPEAT, *argument, at, go_on)
        self.count += 1
        if self.count > self._most:
            raise _Enough
        if kind is _sre.AT:
            return go_on(at) if self._is_at(argument, at) else None
        fits = at < len(self._text) and re.fullmatch(steps._source(node), self._text[at], self._flags)
        return go_on(at + 1) if fits else None

    def _repeat(
        self, lazy: bool, least: int, most: int, item: Sequence[Any], at: int, go_on: Callable[[int], int | None]
    ) -> int | None:
        def again() -> int | None:
            def after(end: int) -> int | None:
                return (
                    None
                    if end == at and not least
                    else self._repeat(lazy, max(0, least - 1), most - 1, item, end, go_on)
                )

            return self.match(item, at, after) if most else None

        if least:
            return again()
        first, second = (lambda: go_on(at), again) if lazy else (again, lambda: go_on(at))
        end = first()
        return second() if end is None else end

    def _is_at(self, place: Any, at: int) -> bool:
        source = {_sre.AT_BEGINNING: "^", _sre.AT_END: "$", _sre.AT_BOUNDARY: r"\b"}[place]
        return bool(re.compile(source, re.MULTILINE if self._multiline else 0).match(self._text, at))


def count_steps(pattern: patterns.Pattern, text: str, most: int) -> int:
    """Return the steps of a search for all matches, or `most + 1` if there are more."""
    matcher = _Matcher(pattern.compiled.flags, text, most)
    at = 0
    try:
        while at <= len(text):
            end = matcher.match(pattern.nodes, at, lambda after: after)
            at = at + 1 if end is None or end == at else end
    except _Enough:
        return most + 1
    return matcher.count
