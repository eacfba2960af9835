"""Calls of built-in capabilities, in a world with a clock that stands still."""

from datetime import UTC, datetime

import pytest

from registry.core.workflows.builtins.catalogue import BUILTINS
from registry.core.workflows.failures import Code, StepFailed
from registry.core.workflows.values import Json

NOW = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)


class World:
    """A context whose time only passes while somebody sleeps."""

    def __init__(self, remaining_seconds: float = 60.0) -> None:
        self.remaining_seconds = remaining_seconds
        self.slept: list[float] = []

    def now(self) -> datetime:
        return NOW

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def call(id_: str, **inputs: Json) -> dict[str, Json]:
    return BUILTINS[id_].run(inputs, World())


def refused(id_: str, **inputs: Json) -> str:
    """Return the message of the failure."""
    with pytest.raises(StepFailed) as raised:
        call(id_, **inputs)
    assert raised.value.failure.code == Code.CALL
    return raised.value.failure.message
