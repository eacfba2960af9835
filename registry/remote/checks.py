"""Checks of new skills, with a limit for the CPU time of one request."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import InvalidSkill
from registry.core.format import skill_md
from registry.core.limits import Limits
from registry.core.lint import rules

_SECONDS_PER_BYTE = 1.2e-7  # of SKILL.md, to read it, to estimate its tokens and to store it


class CheckTime:
    """The CPU time of one request for new skills. Only one of them is checked at a time.

    Reading `inline` bytes of text always fits. The security scan of a skill runs only if the time for it is left, so
    that no request is refused because its skills are long.
    """

    def __init__(self, most: float, *, inline: int = 0) -> None:
        self._left = most - inline * _SECONDS_PER_BYTE
        self._lock = threading.Lock()

    @contextmanager
    def measured(self, bundle: Bundle, *, inline: bool, limits: Limits) -> Iterator[bool]:
        """Count the time of a block that checks and stores a skill. Yield whether there is time to scan it."""
        with self._lock:
            if inline:
                self._left += len(bundle[SKILL_MD]) * _SECONDS_PER_BYTE
            started = time.thread_time()
            try:
                yield rules.refusal_seconds(bundle, limits=limits) <= self._left
            finally:
                self._left -= time.thread_time() - started


def check(bundle: Bundle, *, name: str, scan: bool, limits: Limits) -> None:
    """Raise InvalidSkill for errors. Warnings are accepted, as in an import."""
    skill_md.read(bundle[SKILL_MD], fallback_name=name, limits=limits)
    for finding in rules.refusals(bundle, limits=limits) if scan else ():
        place = f"{finding.file}, line {finding.line}" if finding.line else finding.file
        raise InvalidSkill(f"{place}: {finding.message} {finding.fix}", findings=[finding])
