"""Regular expressions of people, only those whose search is certain to end soon.

Python's engine tries one way to match after another, and holds the lock of the interpreter meanwhile. `steps.py`
computes how many it may need for a pattern and a text. A pattern that needs too many for a short text is refused for
every text, and others as soon as a text is too long for them.
"""

import importlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from registry.core.workflows.builtins import json_paths, steps
from registry.core.workflows.builtins.definition import refuse

MOST_CHARS = 500
MOST_TEXT = 200_000
MOST_ALPHABET = 10_000  # different characters in a text
MOST_STEPS = 100_000_000  # a step takes 2 to 15 ns
MOST_MATCHES = 10_000
TRIED = 200  # a pattern must be able to search every text of this length

_parser: Any = importlib.import_module("re._parser")
_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.ASCII | re.UNICODE
_CLASS = re.compile(r"\\.|\[\^?\]?((?:\\.|[^\]\\])*)\]", re.DOTALL)
_UNCLEAR = re.compile(r"\A\[|--|&&|~~|\|\|")  # Python warns that these will change their meaning in a character class


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that is safe for texts up to `TRIED` characters. `search` checks longer ones."""

    compiled: re.Pattern[str]
    nodes: Sequence[Any] = field(repr=False)

    def search(self, text: str, most: int = MOST_MATCHES) -> Iterator[re.Match[str]]:
        """Yield the matches, or refuse the text before the search starts."""
        self.check(text)
        for count, match in enumerate(self.compiled.finditer(text)):
            if count >= most:
                raise refuse(f"The pattern matches more than {most:,} times. Use a part of the text.")
            yield match

    def check(self, text: str) -> None:
        if len(text) > MOST_TEXT:
            raise refuse(f"The text has {len(text):,} characters. A pattern may search {MOST_TEXT:,}.")
        if len(set(text)) > MOST_ALPHABET:
            raise refuse(f"The text has more than {MOST_ALPHABET:,} different characters, too many for a pattern.")
        try:
            needed = steps.bound(self.nodes, self.compiled.flags, text)
        except steps.NotAllowed as error:
            raise refuse(f"The pattern cannot be used for this text: {error}") from None
        if needed > MOST_STEPS:
            raise refuse(
                "The pattern may take too long for this text. Let it match one line instead of the whole text, "
                "or avoid two repeats beside each other that match the same characters."
            )


def parse(text: str, *, ignore_case: bool = False) -> Pattern:
    """Return a pattern, or refuse it."""
    if len(text) > MOST_CHARS:
        raise refuse(f"The pattern has {len(text):,} characters, and {MOST_CHARS} are allowed.")
    if any(match[1] and _UNCLEAR.search(match[1]) for match in _CLASS.finditer(text)):
        raise refuse("The pattern has “[”, “--”, “&&”, “~~” or “||” in a character class. Write a backslash before it.")
    flags = re.IGNORECASE if ignore_case else 0
    try:
        parsed = _parser.parse(text, flags)
        if parsed.state.flags & ~_FLAGS:
            raise refuse("The pattern sets a flag that is not allowed. Allowed are (?i), (?m), (?s) and (?a).")
        pattern = Pattern(re.compile(text, flags), list(parsed))
    except (re.error, RecursionError, OverflowError, Warning) as error:
        reason = error.msg if isinstance(error, re.error) else "it is too complex"
        raise refuse(f"The pattern “{json_paths.shown(text)}” cannot be read: {reason}.") from None
    try:
        worst = steps.worst(pattern.nodes, pattern.compiled.flags, TRIED)
    except steps.NotAllowed as error:
        raise refuse(f"The pattern “{json_paths.shown(text)}” cannot be used: {error}") from None
    if worst > MOST_STEPS:
        raise refuse(
            f"The pattern “{json_paths.shown(text)}” may take too long: repeats in it match the same characters."
        )
    return pattern
