"""Answers that go on after their view has returned, without a thread that waits.

`registry/services/following.py` says what a response offers. Here the event loop waits, and one thread of the process
looks.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
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
T = TypeVar("T")


class LookFailed(Exception):
    """A look raised an exception, which the log has."""


async def send_stream(proto: HttpProtocol, answer: Answer, follow: Stream, threads: Threads) -> None:
    """Send what follows until it ends, or until the client is gone or reads too slowly."""
    sent = 0
    gone = asyncio.ensure_future(proto.client_disconnect())
    try:
        transport = proto.response_stream(answer.status, answer.headers)
        part: bytes | None = b"".join(answer.blocks())
        while part is not None and sent < _MOST_BYTES:
            if part:
                sent += len(part)
                await asyncio.wait_for(transport.send_bytes(part), settings.SLOW_CLIENT_SECONDS)
            await asyncio.wait({gone}, timeout=follow.seconds)
            part = None if gone.done() else await _in_thread(threads, follow.look)
    except LookFailed:
        pass  # the stream ends, and its client connects again
    finally:
        gone.cancel()


async def wait(proto: HttpProtocol, follow: Later, threads: Threads) -> HttpResponse | None:
    """Return the answer that came, or None if it is late or the client is gone."""
    gone = asyncio.ensure_future(proto.client_disconnect())
    try:
        while not follow.is_late:
            await asyncio.wait({gone}, timeout=follow.seconds)
            if gone.done():
                return None
            if (found := await _in_thread(threads, follow.look)) is not None:
                return found
        return None
    except LookFailed:
        return None
    finally:
        gone.cancel()


async def _in_thread(threads: Threads, look: Callable[[], T | None]) -> T | None:
    """Look in a thread. Raise LookFailed if that raises."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T | None] = loop.create_future()

    def work() -> None:
        close_old_connections()
        try:
            report = partial(_report, done, look(), None)
        except Exception:
            logger.exception("An answer could not go on.")
            report = partial(_report, done, None, LookFailed())
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(report)

    threads.submit(work)
    return await done


def _report(done: "asyncio.Future[Any]", found: object, failure: LookFailed | None) -> None:
    if done.done():
        return
    if failure is not None:
        done.set_exception(failure)
    else:
        done.set_result(found)
