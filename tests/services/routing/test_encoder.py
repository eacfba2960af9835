"""The encoder of a process: loaded once, and its absence explained."""

from typing import Any

import pytest

from registry.services.routing import encoder


@pytest.fixture(autouse=True)
def _anew() -> None:
    encoder.forget()


def test_switched_off(settings: Any) -> None:
    settings.ROUTING_EMBEDDINGS = False
    assert encoder.current() is None
    assert encoder.unavailable() == encoder.SWITCHED_OFF


def test_one_encoder_or_one_reason() -> None:
    assert (encoder.current() is None) == bool(encoder.unavailable())
    assert encoder.current() is encoder.current()
