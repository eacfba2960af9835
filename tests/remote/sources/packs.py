"""A git server with just enough of protocol 2 to send packs that git itself would never create."""

import hashlib
import struct
import zlib
from http.server import BaseHTTPRequestHandler

from tests.services.receivers import Behaviour, Receiver, answering

COMMIT, TREE, BLOB, DELTA = 1, 2, 3, 6
KINDS = {COMMIT: b"commit", TREE: b"tree", BLOB: b"blob"}


def line(content: bytes) -> bytes:
    return b"%04x%s" % (len(content) + 4, content)


def identity(kind: int, content: bytes) -> str:
    return hashlib.sha1(b"%s %d\0" % (KINDS[kind], len(content)) + content).hexdigest()  # noqa: S324 - git's own


def packed(kind: int, content: bytes, size: int | None = None, before: bytes = b"") -> bytes:
    """Return one object of a pack. `before` is inserted between its header and its bytes."""
    left = len(content) if size is None else size
    head, left = [kind << 4 | left & 15], left >> 4
    while left:
        head[-1] |= 128
        head, left = [*head, left & 127], left >> 7
    return bytes(head) + before + zlib.compress(content)


def number(value: int) -> bytes:
    """Return a number in the encoding of deltas: seven bits at a time, the lowest first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def pack(*objects: bytes) -> bytes:
    body = b"PACK" + struct.pack(">II", 2, len(objects)) + b"".join(objects)
    return body + hashlib.sha1(body).digest()  # noqa: S324 - git's own


def unfolding(skill: bytes, times: int) -> tuple[str, bytes]:
    """Return a commit, and a pack with one more object: a delta of this many copies of a mebibyte."""
    tree = b"100644 SKILL.md\0" + bytes.fromhex(identity(BLOB, skill))
    commit = f"tree {identity(TREE, tree)}\n".encode() + b"author a <a@b> 0 +0000\ncommitter a <a@b> 0 +0000\n\nx\n"
    base = packed(BLOB, bytes(1 << 20))
    copy = bytes([0x80 | 0x40, 0x10])  # from the start of the base, a mebibyte
    delta = number(1 << 20) + number(times << 20) + copy * times
    away = len(base)
    back = bytes([((away >> 7) - 1) | 128, away & 127])
    objects = [packed(COMMIT, commit), packed(TREE, tree), packed(BLOB, skill), base, packed(DELTA, delta, before=back)]
    return identity(COMMIT, commit), pack(*objects)


def handing_out(receiver: Receiver, commit: str, data: bytes) -> Behaviour:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        answer, kind = _answer(handler.command, receiver.got[-1].body)
        answering(200, answer, **{"Content-Type": f"application/x-git-upload-pack-{kind}"})(handler)

    def _answer(method: str, asked: bytes) -> tuple[bytes, str]:
        if method == "GET":
            able = b"".join(map(line, (b"version 2\n", b"ls-refs\n", b"fetch=shallow\n", b"object-format=sha1\n")))
            return line(b"# service=git-upload-pack\n") + b"0000" + able + b"0000", "advertisement"
        if b"command=ls-refs" in asked:
            return line(f"{commit} HEAD\n".encode()) + b"0000", "result"
        parts = (data[start : start + 60_000] for start in range(0, len(data), 60_000))
        return line(b"packfile\n") + b"".join(line(b"\x01" + part) for part in parts) + b"0000", "result"

    return behave
