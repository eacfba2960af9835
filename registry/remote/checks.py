"""Checks of new skills, with a limit for the CPU time of one request."""

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog import token_estimate
from registry.core.errors import InvalidSkill
from registry.core.format import skill_md
from registry.core.limits import Limits
from registry.core.lint import rules

# CPU time to parse a SKILL.md and store it, to read its bytes, and to estimate its tokens, for the slowest texts.
_SECONDS, _SECONDS_PER_BYTE, _SECONDS_PER_WEIGHED_CHAR = 2e-3, 2e-8, 9e-7


class CheckTime:
    """The CPU time of one request for new skills. Only one of them is checked at a time.

    Reading the inline texts always fits; `inline` are their lengths. The security scan of a skill runs only if the time
    for it is left, so that no request is refused because its skills are long.
    """

    def __init__(self, most: float, *, inline: Iterable[int] = ()) -> None:
        self._left = most - sum(map(_reading_seconds, inline))
        self._lock = threading.Lock()

    @contextmanager
    def measured(self, bundle: Bundle, *, inline: bool, limits: Limits) -> Iterator[bool]:
        """Count the time of a block that checks and stores a skill. Yield whether there is time to scan it."""
        with self._lock:
            if inline:
                self._left += _reading_seconds(len(bundle[SKILL_MD]))
            started = time.thread_time()
            try:
                yield rules.refusal_seconds(bundle, limits=limits) <= self._left
            finally:
                self._left -= time.thread_time() - started


def _reading_seconds(length: int) -> float:
    """Return the CPU time to read and store a text of this length, at most."""
    weighed = min(length, token_estimate.WEIGHED_CHARS)
    return _SECONDS + length * _SECONDS_PER_BYTE + weighed * _SECONDS_PER_WEIGHED_CHAR


def check(bundle: Bundle, *, name: str, scan: bool, limits: Limits) -> None:
    """Raise InvalidSkill for errors. Warnings are accepted, as in an import."""
    skill_md.read(bundle[SKILL_MD], fallback_name=name, limits=limits)
    for finding in rules.refusals(bundle, limits=limits) if scan else ():
        raise InvalidSkill(f"{finding.place}: {finding.message} {finding.fix}", findings=[finding])
