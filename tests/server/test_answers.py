"""Answers of a WSGI application."""

from collections.abc import Iterator
from typing import Any

import pytest

from skillsite.server.answers import produce


class Parts:
    """The body of an answer in parts. `closed` is set as WSGI requires."""

    def __init__(self, count: int, fails: bool = False) -> None:
        self.count, self.fails, self.closed = count, fails, False

    def __iter__(self) -> Iterator[bytes]:
        for number in range(self.count):
            yield bytes([number % 256]) * 100_000
        if self.fails:
            raise ValueError("broken")

    def close(self) -> None:
        self.closed = True


def run(parts: Parts, method: str = "GET") -> Any:
    def application(environ: Any, start_response: Any) -> Parts:
        start_response("200 OK", [("X-Header", "yes")])
        return parts

    return produce(application, {"REQUEST_METHOD": method})


@pytest.mark.parametrize("count", [0, 1, 3, 50])
def test_an_answer_of_any_length_is_whole(count: int) -> None:
    parts = Parts(count)
    answer = run(parts)
    assert b"".join(answer.blocks()) == b"".join(Parts(count))
    assert (answer.status, answer.headers, answer.length, parts.closed) == (
        200,
        [("X-Header", "yes")],
        count * 100_000,
        True,
    )
    answer.close()


def test_a_long_answer_is_not_in_memory() -> None:
    answer = run(Parts(50))
    assert not isinstance(answer.body, bytes)
    answer.close()
    assert answer.body.closed


def test_an_answer_to_head_has_no_body() -> None:
    assert run(Parts(3), "HEAD").body == b""


@pytest.mark.parametrize("count", [1, 50])
def test_a_failed_answer_is_closed(count: int) -> None:
    parts = Parts(count, fails=True)
    with pytest.raises(ValueError, match="broken"):
        run(parts)
    assert parts.closed
