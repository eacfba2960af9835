"""Heads of the audit chains, written by the worker to its log and to a file outside the database.

The file shows later that events existed, even if every table was replaced with an older copy.
"""

import logging
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from registry.core.audit.heads import Head, parse
from registry.lib import files
from registry.models import Chain

log = logging.getLogger(__name__)

MAX_BYTES = 4 * 1024 * 1024
_LOGGED = 1_000


def head_of(chain: Chain, *, now: datetime) -> Head:
    return Head(chain.name, chain.length, chain.head, chain.seal, now.isoformat(timespec="seconds"))


def record(path: Path, *, now: datetime) -> list[Head]:
    """Append the heads that changed since the last call to the file and to the log. Return them."""
    known = newest(read(path))
    changed = []
    for chain in Chain.objects.order_by("pk").iterator(chunk_size=2_000):
        head, last = head_of(chain, now=now), known.get(chain.name)
        if last is not None and (last.length, last.hash, last.seal) == (head.length, head.hash, head.seal):
            continue
        if last is not None and last.length >= head.length and last.hash != head.hash:
            log.error("The audit chain %s lost events: it had %s, now %s.", chain.name, last.length, head.length)
        changed.append(head)
    _append(path, changed)
    _rotate(path)
    for head in changed[:_LOGGED]:
        log.info("%s", head.as_line())
    if len(changed) > _LOGGED:
        log.info("%s more audit heads are in %s.", len(changed) - _LOGGED, path.name)
    return changed


def read(path: Path) -> list[Head]:
    """Return the heads in the file, oldest first, after those of the file before its last rotation."""
    heads: list[Head] = []
    for each in (_rotated(path), path):
        if each.exists():
            with each.open(encoding="utf-8", errors="replace") as lines:
                heads += [head for _, head in parse(lines)]
    return heads


def newest(heads: Iterable[Head]) -> dict[str, Head]:
    """Return the last head of each chain, in the order of the file."""
    return {head.chain: head for head in heads}


def _append(path: Path, heads: Iterable[Head]) -> None:
    text = "".join(f"{head.as_line()}\n" for head in heads)
    if not text:
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, files.PRIVATE_FILE)
    with os.fdopen(descriptor, "ab") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def _rotate(path: Path) -> None:
    """Keep one older file. The new file starts with the longest head of each chain, so that none is forgotten."""
    if not path.exists() or path.stat().st_size <= MAX_BYTES:
        return
    longest: dict[str, Head] = {}
    last = newest(read(path))
    for head in read(path):
        if head.chain not in longest or head.length > longest[head.chain].length:
            longest[head.chain] = head
    kept = [*longest.values(), *(head for name, head in last.items() if head != longest[name])]
    text = "".join(f"{head.as_line()}\n" for head in kept).encode()
    if path.stat().st_size < 2 * len(text):
        return
    path.replace(_rotated(path))
    files.write_atomically(path, text, mode=files.PRIVATE_FILE)


def _rotated(path: Path) -> Path:
    return path.with_name(f"{path.stem}.1{path.suffix}")
