"""JSON trees that the state owns: checked copies, their size, and merges that leave the merged trees alone."""

import math
from json.encoder import encode_basestring
from typing import NamedTuple, Self

from registry.core.workflows.values import Json, canonical

MOST_LEVELS = 100  # of containers in containers


class Refused(Exception):
    """A value cannot be stored. The message is the end of a sentence that says where."""


class Size(NamedTuple):
    """Characters of the canonical JSON, and how many values there are, containers and what they contain.

    Values are counted because three characters of JSON can be an empty list, which takes 80 bytes of memory.
    """

    chars: int
    values: int

    def plus(self, other: Self) -> "Size":
        return Size(self.chars + other.chars, self.values + other.values)

    def minus(self, other: Self) -> "Size":
        return Size(self.chars - other.chars, self.values - other.values)

    def check(self, most: Self, what: str) -> None:
        """Raise Refused if this is more than `most`."""
        if self.chars > most.chars:
            raise Refused(f"{what} would be longer than {most.chars:,} characters of JSON. Write less.")
        if self.values > most.values:
            raise Refused(f"{what} would have more than {most.values:,} values. Write less.")


EMPTY = Size(2, 1)  # an empty list or object


def take(value: Json, most: Size, levels: int = MOST_LEVELS) -> tuple[Json, Size]:
    """Return a copy of a value from outside, and its size. Stop and raise Refused at the first thing that is wrong."""
    taker = _Taker(most)
    return taker.take(value, levels), Size(taker.chars, taker.values)


class _Taker:
    def __init__(self, most: Size) -> None:
        self.most = most
        self.chars = self.values = 0

    def take(self, value: Json, levels: int) -> Json:
        if not isinstance(value, (dict, list)):
            self._count(_scalar_chars(value), 1)
            return value
        if levels <= 0:
            raise Refused(f"the value is nested deeper than {MOST_LEVELS} levels. Make it flatter.")
        self._count(2, 1)
        if isinstance(value, list):
            self._count(max(len(value) - 1, 0), 0)
            return [self.take(item, levels - 1) for item in value]
        copy: dict[str, Json] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise Refused("the value has a key that is not text. Make the key text.")
            self._count(_key_chars(key, first=not copy), 0)
            copy[key] = self.take(item, levels - 1)
        return copy

    def _count(self, chars: int, values: int) -> None:
        self.chars += chars
        self.values += values
        if self.chars > self.most.chars or self.values > self.most.values:
            Size(self.chars, self.values).check(self.most, "the value")


def _scalar_chars(value: Json) -> int:
    if isinstance(value, str):
        return _text_chars(value)
    if value is None or value is True:
        return 4
    if value is False:
        return 5
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Refused("the value contains a number that is not finite, which JSON does not have. Use null.")
        return len(float.__repr__(value))
    if isinstance(value, int):
        try:
            return len(int.__repr__(value))
        except ValueError:
            raise Refused("the value contains a number with too many digits. Write it as text.") from None
    raise Refused(f"the value contains a Python {type(value).__name__}, which JSON does not have.")


def _text_chars(text: str) -> int:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Refused("the value contains half of a surrogate pair, which is not a character. Remove it.") from None
    return len(encode_basestring(text))


def _key_chars(key: str, *, first: bool) -> int:
    """Return the length of a key with its colon, and with the comma that separates it from the one before."""
    return _text_chars(key) + (1 if first else 2)


def size(value: Json) -> Size:
    """Return the size of a value that was taken before."""
    if isinstance(value, (dict, list)):
        return Size(len(canonical(value)), _count(value))
    return Size(_scalar_chars(value), 1)


def size_of(value: Json) -> Size:
    """Return the size of any JSON value, also of one that was never taken."""
    return Size(len(canonical(value)), _count(value))


def _count(value: Json) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if isinstance(value, list) else 1


def copied(value: Json) -> Json:
    """Return a copy that shares no container with a value that was taken before."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def put(into: dict[str, Json], key: str, value: Json, added: Size) -> Size:
    """Store a value of size `added` in a container of ours, and return by how much the container grew."""
    grown = added.minus(size(into[key])) if key in into else added.plus(Size(_key_chars(key, first=not into), 0))
    into[key] = value
    return grown


def joined(base: list[Json], more: list[Json], added: Size) -> tuple[list[Json], Size]:
    """Return a new list of both, and by how much it is larger than `base`. `added` is the size of `more`."""
    comma = 1 if base and more else 0
    return [*base, *more], Size(added.chars - EMPTY.chars + comma, added.values - EMPTY.values)


def merged(base: dict[str, Json], overlay: dict[str, Json]) -> tuple[dict[str, Json], Size]:
    """Return an object of both, and by how much it is larger than `base`. Neither of them is changed.

    Objects under the same key are merged. For everything else, lists too, `overlay` wins.
    """
    if not base:
        return overlay, size(overlay).minus(EMPTY)
    result, grown = dict(base), Size(0, 0)
    for key, value in overlay.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            result[key], more = merged(old, value)
        else:
            more = put(result, key, value, size(value))
        grown = grown.plus(more)
    return result, grown
