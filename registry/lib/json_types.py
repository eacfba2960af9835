"""Annotations for the TypedDicts that describe JSON answers.

A string inside ``Annotated`` is the description of a key; ``OneOf`` and ``Format`` narrow its type.
"""

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True)
class OneOf:
    """The values that a string may have."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Format:
    """A format of JSON Schema, such as ``date-time``."""

    name: str


Timestamp = Annotated[str, Format("date-time")]
