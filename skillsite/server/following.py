"""Answers that go on after their view has returned, without a thread that waits.

`registry/services/following.py` says what a response offers. Here the event loop waits, and one thread of the process
looks.
"""

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from django.conf import settings
from django.db import close_old_connections
from django.http import HttpResponse

from registry.services.following import Later, Stream
from skillsite.server.answers import Answer
from skillsite.server.protocol import HttpProtocol
from skillsite.server.threads import Threads

logger = logging.getLogger(__name__)

_MOST_BYTES = 256 * 1024  # of a stream; the web server keeps in memory what the client has not read
_CHECK_SECONDS = 10.0
T = TypeVar("T")


class LookFailed(Exception):
    """A look raised an exception, which the log has."""


class Following:
    """Sends streams as they go on, and waits for later answers. Both end when the process is told to stop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._threads = Threads(1, "follow")
        self._stopping = asyncio.Event()
        self._checked = float("-inf")  # when the thread checked its database connection
        _when_told_to_stop(partial(loop.call_soon_threadsafe, self._stopping.set))

    def stop(self) -> None:
        self._threads.stop()

    async def send_stream(self, proto: HttpProtocol, answer: Answer, follow: Stream) -> None:
        """Send what follows until it ends, or until the client is gone or reads too slowly."""
        sent = 0
        async with self._end_of(proto) as end:
            transport = proto.response_stream(answer.status, answer.headers)
            part: bytes | None = b"".join(answer.blocks())
            while part is not None and sent < _MOST_BYTES:
                if part:
                    sent += len(part)
                    await asyncio.wait_for(transport.send_bytes(part), settings.SLOW_CLIENT_SECONDS)
                await asyncio.wait(end, timeout=follow.seconds, return_when=asyncio.FIRST_COMPLETED)
                part = None if _is_over(end) else await self._look(follow.look)

    async def wait(self, proto: HttpProtocol, follow: Later) -> HttpResponse | None:
        """Return the answer that came, or None if it is late or the client is gone."""
        async with self._end_of(proto) as end:
            while not follow.is_late:
                await asyncio.wait(end, timeout=follow.seconds, return_when=asyncio.FIRST_COMPLETED)
                if _is_over(end):
                    return None
                if (found := await self._look(follow.look)) is not None:
                    return found
        return None

    async def _look(self, look: Callable[[], T | None]) -> T | None:
        """Look in the thread. Raise LookFailed if that raises."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T | None] = loop.create_future()

        def work() -> None:
            try:
                self._check_connection()
                report = partial(_report, done, look(), None)
            except Exception:
                logger.exception("An answer could not go on.")
                self._checked = float("-inf")
                report = partial(_report, done, None, LookFailed())
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(report)

        self._threads.submit(work)
        return await done

    def _check_connection(self) -> None:
        """Close a database connection that is lost or old, now and then, because PostgreSQL is asked for it."""
        if time.monotonic() - self._checked >= _CHECK_SECONDS:
            self._checked = time.monotonic()
            close_old_connections()

    @asynccontextmanager
    async def _end_of(self, proto: HttpProtocol) -> AsyncIterator[set[asyncio.Future[Any]]]:
        """Yield what ends a wait early: a client that is gone, or the end of the process. Swallow a look that fails."""
        end: set[asyncio.Future[Any]] = {
            asyncio.ensure_future(proto.client_disconnect()),
            asyncio.ensure_future(self._stopping.wait()),
        }
        try:
            yield end
        except LookFailed:
            pass
        finally:
            for future in end:
                future.cancel()


def _is_over(end: set[asyncio.Future[Any]]) -> bool:
    return any(future.done() for future in end)


def _when_told_to_stop(callback: Callable[[], object]) -> None:
    """Call back on SIGTERM and SIGINT. The web server still gets them, because its loop reads them from a socket."""
    for number in (signal.SIGTERM, signal.SIGINT):
        previous = signal.getsignal(number)

        def handle(received: int, frame: Any, previous: Any = previous) -> None:
            callback()
            if callable(previous):
                previous(received, frame)

        signal.signal(number, handle)
        signal.siginterrupt(number, False)


def _report(done: "asyncio.Future[Any]", found: object, failure: LookFailed | None) -> None:
    if done.done():
        return
    if failure is not None:
        done.set_exception(failure)
    else:
        done.set_result(found)
