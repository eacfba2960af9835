"""Heads of audit chains, kept outside the database: in a file, in a log, or by the receiver of a webhook.

A head is the length of a chain and the hash of its last event at some time. It proves that events up to
this length existed, even if all tables were replaced with an older copy.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from registry.core.audit import chain

_FIELDS = {"chain": str, "length": int, "hash": str, "seal": str, "at": str}
_LINE_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Head:
    """The end of one chain. `at` is the time when it was written."""

    chain: str
    length: int
    hash: str
    seal: str
    at: str = ""

    def is_sealed(self, key: str) -> bool:
        return chain.is_seal(self.seal, chain.head_seal(key, self.chain, self.length, self.hash))

    def as_line(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))


def parse(lines: Iterable[str]) -> Iterator[tuple[int, Head]]:
    """Yield the heads in a file, with their line numbers. Other lines are skipped.

    A line can be one of the file of the worker, a line of its log, or the body of a webhook.
    """
    for number, line in enumerate(lines, 1):
        start = line.find("{")
        if start >= 0 and len(line) <= _LINE_CHARS and (head := _head(line[start:])) is not None:
            yield number, head


def _head(text: str) -> Head | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for key in ("data", "head"):
        if isinstance(found, dict) and isinstance(found.get(key), dict):
            found = found[key]
    if not isinstance(found, dict) or any(type(found.get(name)) is not kind for name, kind in _FIELDS.items()):
        return None
    return Head(**{name: found[name] for name in _FIELDS})
