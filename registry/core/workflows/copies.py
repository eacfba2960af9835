"""Copies of JSON values, bounded in size.

A value that names another one many times would otherwise grow with every step of a run.
"""

from registry.core.workflows.values import Json

MOST_VALUES = 200_000  # of a copy, each list and object counts as one more
MOST_CHARACTERS = 10_000_000  # of the texts, keys and numbers of a copy
MOST_DEPTH = 100  # of lists and objects in each other


class CopyTooLarge(Exception):
    """The copy is not made, because it would pass a limit."""


class Copier:
    """Copy values. The limits hold for everything that one copier counts."""

    def __init__(self) -> None:
        self._values = MOST_VALUES
        self._characters = MOST_CHARACTERS

    @property
    def work(self) -> int:
        """Return the work of all copies so far. Text counts once for each 100 characters."""
        return MOST_VALUES - self._values + (MOST_CHARACTERS - self._characters) // 100

    def copy(self, value: Json, depth: int = 0) -> Json:
        """Return a deep copy, or raise CopyTooLarge. `depth` is the number of containers around the value."""
        self.count(value, depth)
        if isinstance(value, dict):
            return {key: self.copy(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list):
            return [self.copy(item, depth + 1) for item in value]
        return value

    def count(self, value: Json, depth: int) -> None:
        """Count a value without its items, or raise CopyTooLarge."""
        if depth > MOST_DEPTH:
            raise CopyTooLarge(f"The value has more than {MOST_DEPTH} levels of lists and objects. Use a flatter one.")
        self._values -= 1
        if isinstance(value, (dict, list)) and len(value) > self._values:
            self._values = -1  # refused before the keys and the items are read
        elif isinstance(value, dict):
            self._characters -= sum(map(len, value))
        elif isinstance(value, str):
            self._characters -= len(value)
        elif isinstance(value, int):
            self._characters -= value.bit_length() // 3
        if self._values < 0:
            raise CopyTooLarge(
                f"The value has more than {MOST_VALUES:,} parts. Use less of it, or refer to it less often."
            )
        if self._characters < 0:
            raise CopyTooLarge(
                f"The value has more than {MOST_CHARACTERS:,} characters. Use less of it, or refer to it less often."
            )


def copy(value: Json) -> Json:
    """Return a deep copy, or raise CopyTooLarge."""
    return Copier().copy(value)
