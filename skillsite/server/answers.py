"""Answers of the WSGI application, complete before they are sent."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

DIRECT = 256 * 1024  # bytes of an answer that may always wait in the memory of the web server
_IN_MEMORY = 2 * 1024 * 1024
_BLOCK = 256 * 1024
_Headers = list[tuple[str, str]]
Wsgi = Callable[[dict[str, Any], Any], Any]  # returns an iterable of bytes


@dataclass(slots=True)
class Answer:
    """A complete answer. The body is in memory, or in a temporary file without a name.

    With `follow`, it is the start of a stream, or waits for another answer. See `following.py`.
    """

    status: int
    headers: _Headers
    body: bytes | BinaryIO
    length: int
    follow: Any = None

    def blocks(self) -> Iterator[bytes]:
        if isinstance(self.body, bytes):
            for start in range(0, self.length, _BLOCK):
                yield self.body[start : start + _BLOCK]
        else:
            while block := self.body.read(_BLOCK):
                yield block

    def close(self) -> None:
        if not isinstance(self.body, bytes):
            self.body.close()
        if self.follow is not None:
            self.follow.close()


def produce(application: Wsgi, environ: dict[str, Any]) -> Answer:
    """Run the application. A long body is written to a file at the speed of the disk, not of the client."""
    started: list[tuple[int, _Headers]] = []

    def start_response(status: str, headers: _Headers, exc_info: Any = None) -> None:
        started[:] = [(int(status[:3]), headers)]

    parts = application(environ, start_response)
    follow = None
    try:
        body, length = (b"", 0) if environ["REQUEST_METHOD"] == "HEAD" else _collect(parts)
        follow = _take_follow(parts)
    finally:
        close = getattr(parts, "close", None)
        if close:
            close()
    status, headers = started[0]
    return Answer(status, headers, body, length, follow)


def merged(first: Answer, later: Any) -> Answer:
    """Return the response that came later, with the headers that the middleware gave to the first answer."""
    own = [*later.items(), ("Content-Length", str(len(later.content)))]
    replaced = {name.lower() for name, _ in own}
    headers = [*((name, value) for name, value in first.headers if name.lower() not in replaced), *own]
    return Answer(later.status_code, headers, later.content, len(later.content))


def _take_follow(parts: Any) -> Any:
    """Take over what follows a response, so that closing the response does not end it."""
    follow = getattr(parts, "follow", None)
    if follow is not None:
        parts.follow = None
    return follow


def _collect(parts: Iterable[bytes]) -> tuple[bytes | BinaryIO, int]:
    collected: list[bytes] = []
    length = 0
    remaining = iter(parts)
    for part in remaining:
        collected.append(part)
        length += len(part)
        if length > _IN_MEMORY:
            return _write(collected, remaining)
    return b"".join(collected), length


def _write(collected: list[bytes], remaining: Iterator[bytes]) -> tuple[BinaryIO, int]:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - returned
    try:
        file.writelines(collected)
        collected.clear()
        file.writelines(remaining)
        length = file.tell()
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file, length
