"""A network connection with a deadline for the whole exchange."""

import ssl
import time
from collections.abc import Callable
from typing import Any

import httpcore


class DeadlineStream(httpcore.NetworkStream):
    """Connection that a slow sender cannot hold open.

    `sending` is called before each write. The handshake of TLS is no write.
    """

    def __init__(self, plain: httpcore.NetworkStream, deadline: float, sending: Callable[[], None]) -> None:
        self._plain, self._deadline, self._sending = plain, deadline, sending

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._plain.read(max_bytes, seconds_left(self._deadline, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        left = seconds_left(self._deadline, timeout)
        self._sending()
        self._plain.write(buffer, left)

    def close(self) -> None:
        self._plain.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secured = self._plain.start_tls(ssl_context, server_hostname, seconds_left(self._deadline, timeout))
        return DeadlineStream(secured, self._deadline, self._sending)

    def get_extra_info(self, info: str) -> Any:
        return self._plain.get_extra_info(info)


def seconds_left(deadline: float, timeout: float | None) -> float:
    """Return the seconds until a deadline, and at most `timeout`. Raise ReadTimeout after the deadline."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("deadline exceeded")
    return left if timeout is None else min(left, timeout)
