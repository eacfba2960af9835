"""Request bodies: received by the event loop, with a minimum speed, before a thread gets the request."""

import io
import tempfile
from typing import IO

from django.conf import settings
from django.core.exceptions import RequestDataTooBig

from skillsite.server.places import Place
from skillsite.server.protocol import HttpProtocol

IN_MEMORY = 64 * 1024
LARGE = 1024 * 1024
_OVERHEAD = 1024 * 1024  # form fields around an archive of the largest size


class Incomplete(Exception):
    """The body ended too early."""


class TooLong(Exception):
    """A chunked body is longer than its sender may send."""


class Refused(io.RawIOBase):
    """A body that is longer than its sender may send. Views refuse the sender or the length; reading is an error."""

    def read(self, size: int = -1) -> bytes:
        raise RequestDataTooBig("The request body is too long, or too long for a sender who did not sign in.")

    def readable(self) -> bool:
        return True


def longest() -> int:
    return settings.LIMITS.archive_bytes + _OVERHEAD


async def receive(proto: HttpProtocol, length: int | None, place: Place, *, known: bool) -> IO[bytes]:
    """Return the body as a file. `length` is None for a chunked body, of which the part that is too long is not read.

    Raise TimeoutError for a client that is too slow, Incomplete if the body ended too early, and TooLong if a sender
    who is not known sends more than 1 MiB. Known senders get the answer of the view, which knows its own limit. Bodies
    over 64 KiB go to a temporary file that has no name, so a killed process leaves nothing on disk.
    """
    most = longest() if known else LARGE
    ends = 0
    body: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - returned
    try:
        async with place.transfer():
            async for chunk in proto:
                ends += not chunk
                body.write(chunk)
                place.advance(len(chunk))
                if place.bytes > most:
                    if not known:
                        raise TooLong
                    break
        # Granian ends a body with one empty part. It returns another one for an error, and for trailers.
        if ends > 1 or (length is not None and place.bytes != length):
            raise Incomplete
    except BaseException:
        body.close()
        raise
    body.seek(0)
    return body
