"""Clients over plain sockets that send or read slowly."""

import json
import socket
from contextlib import ExitStack
from typing import Any

from tests.faults.sites import PATIENCE, Site

PROJECT = "/api/v1/projects/demo"


def connect(site: Site, *, receive_buffer: int = 0) -> socket.socket:
    connection = socket.socket()
    connection.settimeout(PATIENCE)
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.connect(("127.0.0.1", site.port))
    return connection


def head(method: str, path: str, token: object = "", **headers: object) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def read_all(connection: socket.socket) -> bytes:
    """Return everything until the server closes the connection."""
    received = bytearray()
    try:
        while chunk := connection.recv(1 << 20):
            received += chunk
    except ConnectionResetError:
        pass
    return bytes(received)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def ask(site: Site, method: str, path: str, token: str = "", body: Any = None) -> bytes:
    """Send a whole request and return the whole answer."""
    content = b"" if body is None else json.dumps(body).encode()
    headers = {"Content_Length": len(content), "Content_Type": "application/json"} if content else {}
    with connect(site) as connection:
        connection.sendall(head(method, path, token, Connection="close", **headers) + content)
        return read_all(connection)


def slow_senders(stack: ExitStack, site: Site, path: str, count: int, **headers: object) -> list[socket.socket]:
    """Open connections that send one byte of a body of 1,000."""
    senders = [stack.enter_context(connect(site)) for _ in range(count)]
    for sender in senders:
        sender.sendall(head("POST", path, Content_Length=1_000, **headers) + b"{")
    return senders


def slow_readers(stack: ExitStack, site: Site, path: str, token: str, count: int) -> list[socket.socket]:
    """Open connections that request an answer and read only its first byte, so that it has started."""
    readers = [stack.enter_context(connect(site, receive_buffer=65_536)) for _ in range(count)]
    for reader in readers:
        reader.sendall(head("GET", path, token))
    for reader in readers:
        assert reader.recv(1) == b"H"
    return readers
