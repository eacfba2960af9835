"""Long answers, sent at the speed of the client.

Granian's streams accept everything at once and keep it in memory. A file is read only as fast as the client reads, and
a pipe is such a file: while it is full, the event loop waits.
"""

import asyncio
import contextlib
import fcntl
import os

from skillsite.server.answers import Answer
from skillsite.server.places import Place
from skillsite.server.protocol import HttpProtocol

_CAPACITY = 64 * 1024


async def send(proto: HttpProtocol, answer: Answer, place: Place) -> None:
    """Send an answer that is longer than the pipe. Raise TimeoutError for a client that reads too slowly.

    The connection ends then, because the answer is shorter than its Content-Length.
    """
    read_end, write_end = os.pipe()
    opened = False
    try:
        os.set_blocking(write_end, False)
        _limit_capacity(write_end)
        proto.response_file(answer.status, _with_length(answer), f"/dev/fd/{read_end}")
        loop = asyncio.get_running_loop()
        async with place.transfer():
            for block in answer.blocks():
                view = memoryview(block)
                while view:
                    written = await _write(loop, write_end, view)
                    view = view[written:]
                    place.advance(written)
                    if place.bytes > _CAPACITY and not opened:
                        # Granian has opened the pipe, because it has read from it. Without our own end, writing
                        # fails as soon as the client is gone.
                        opened = True
                        os.close(read_end)
    finally:
        os.close(write_end)
        if not opened:
            os.close(read_end)


async def _write(loop: asyncio.AbstractEventLoop, end: int, view: memoryview) -> int:
    while True:
        with contextlib.suppress(BlockingIOError):
            return os.write(end, view)
        writable = loop.create_future()
        loop.add_writer(end, _resolve, writable)
        try:
            await writable
        finally:
            loop.remove_writer(end)


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _limit_capacity(end: int) -> None:
    """Use the usual capacity also on systems where pipes have more."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, _CAPACITY)


def _with_length(answer: Answer) -> list[tuple[str, str]]:
    headers = [(name, value) for name, value in answer.headers if name.lower() != "content-length"]
    return [*headers, ("Content-Length", str(answer.length))]
