"""Options of the socket that the web server listens at."""

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def end_stuck_connections(seconds: int) -> None:
    """Let the kernel end connections whose client has read nothing for this time. Only Linux can do this.

    The web server has no time limit for writing. Accepted connections inherit the option.
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:
        for listening in _listening():
            listening.setsockopt(socket.IPPROTO_TCP, option, seconds * 1_000)


def _listening() -> Iterator[socket.socket]:
    """Yield the listening TCP sockets of this process. The web server does not hand out its own."""
    with suppress(FileNotFoundError):
        for entry in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                if stat.S_ISSOCK(os.fstat(int(entry.name)).st_mode):
                    with socket.socket(fileno=os.dup(int(entry.name))) as one:
                        if _is_listening(one):
                            yield one


def _is_listening(one: socket.socket) -> bool:
    internet = one.family in (socket.AF_INET, socket.AF_INET6) and one.type == socket.SOCK_STREAM
    return internet and bool(one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
