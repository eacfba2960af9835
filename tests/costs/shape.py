"""A hostile input of any size, and the operation that reads it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from registry.core.errors import SkillsiteError

KB = 1_000
MB = 1_000 * KB


@dataclass(frozen=True, slots=True)
class Shape:
    """`make` builds an input of about `size` bytes, `read` is the operation, `largest` the largest size that it allows.

    `read` must not use a cache, because it is repeated.
    """

    name: str
    make: Callable[[int], Any]
    read: Callable[[Any], object]
    largest: int

    def work(self, size: int) -> Callable[[], None]:
        """Return the operation on an input of this size. A refusal is a fine result."""
        made = self.make(size)

        def work() -> None:
            try:
                self.read(made)
            except SkillsiteError:
                pass

        return work


def repeated(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]
