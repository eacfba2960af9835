"""A hostile input of any size, and the operation that reads it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from registry.core.errors import SkillsiteError

KB = 1_000
MB = 1_000 * KB


@dataclass(frozen=True, slots=True)
class Shape:
    """An input that grows, and its reader.

    `make` builds an input of about the given number of bytes, `read` is the operation, and `largest` is the largest
    size that it allows. `read` must not use a cache, because it is repeated.

    A soak checks everything about every shape. A daily run checks the growth from `small` to four times `small`, the
    time of `quick` shapes at their largest size, and the memory of `light` ones.
    """

    name: str
    make: Callable[[int], Any]
    read: Callable[[Any], object]
    largest: int
    small: int = 0
    quick: bool = False
    light: bool = False

    def work(self, size: int) -> Callable[[], None]:
        """Return the operation on an input of this size. A refusal is a valid result."""
        made = self.make(size)

        def work() -> None:
            with suppress(SkillsiteError):
                self.read(made)

        return work


def repeated(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]
