"""Hostile answers to calls of capabilities."""

from collections.abc import Callable
from contextlib import suppress

from registry.remote.bindings import answers, secret_values
from registry.remote.bindings.event_stream import EventStream
from registry.remote.bindings.failure import BindingFailed
from tests.costs.shape import KB, Shape, repeated

_SECRETS = {f"SECRET_{number}": f"secret-value-{number}" for number in range(50)}
_UNITS = ("{},", '"a",', "[", "1.5e3,", "9" * 4_299 + ",", "\\u0041", "secret-value-", '"', '{"a":1},', "\\")
_EVENTS = ("data:\n", "data:\n\n", "\r", "data: {}\n\n", "x\n", "data:x", ": \n")


def _read(text: str) -> None:
    with suppress(BindingFailed):
        secret_values.hidden(answers.parse(text.encode(), "host"), _SECRETS)


def _in_list(unit: str) -> Callable[[int], str]:
    return lambda size: f"[{repeated(unit, size - 8).rstrip(',')}]"


def _in_text(unit: str) -> Callable[[int], str]:
    return lambda size: f'"{repeated(unit, size - 8)}"'


def _drip(text: str) -> None:
    """Read a stream in parts of one byte."""
    stream = EventStream(2)
    for byte in text.encode():
        stream.feed(bytes((byte,)))
    stream.finish()


def _shapes(unit: str) -> tuple[Shape, Shape]:
    most, name = answers.MOST_BYTES, repr(unit[:12])
    return (
        Shape(f"answer with {name}", _in_list(unit), _read, most, 50 * KB, light=True),
        Shape(f"text with {name}", _in_text(unit), _read, most, 50 * KB, light=True),
    )


def _stream(unit: str) -> Shape:
    return Shape(f"stream of {unit!r}", lambda size: repeated(unit, size), _drip, answers.MOST_BYTES, 50 * KB)


SHAPES = (*(shape for unit in _UNITS for shape in _shapes(unit)), *map(_stream, _EVENTS))
