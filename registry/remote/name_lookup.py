"""IP addresses of host names, with a deadline.

The system's resolver has no deadline of its own and can block for minutes. Each look-up runs in a thread that the
caller stops waiting for. The number of these threads is limited, because nothing can end one.
"""

import socket
import threading
import time
from contextlib import suppress
from ipaddress import ip_address

AT_ONCE = 32
SECONDS = 5.0

_free = threading.BoundedSemaphore(AT_ONCE)


class _Lookup:
    """One look-up. `addresses` stays empty if the name is unknown."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self.done = threading.Event()
        self.addresses: tuple[str, ...] = ()

    def run(self) -> None:
        try:
            with suppress(OSError, UnicodeError):
                records = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
                self.addresses = tuple(dict.fromkeys(str(address[0]) for *_, address in records))
        finally:
            self.done.set()
            _free.release()


def addresses(host: str, port: int, *, seconds: float = SECONDS) -> tuple[str, ...]:
    """Return all IP addresses of a host, in the order of the system's preference.

    Return nothing if the name is unknown, or if there is no answer within `seconds`.
    """
    if is_literal(host):
        return (host.strip("[]"),)
    deadline = time.monotonic() + seconds
    if not _free.acquire(timeout=max(0.0, seconds)):
        return ()
    lookup = _Lookup(host, port)
    try:
        threading.Thread(target=lookup.run, name="name look-up", daemon=True).start()
    except RuntimeError:  # the system has no thread left
        _free.release()
        return ()
    lookup.done.wait(max(0.0, deadline - time.monotonic()))
    return lookup.addresses


def is_literal(host: str) -> bool:
    """Return whether the host is an IP address. Short forms such as 127.1 are names for the resolver."""
    with suppress(ValueError):
        return bool(ip_address(host.strip("[]").partition("%")[0]))
    return False
