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

_SECONDS_PER_BYTE = 2e-7  # of SKILL.md, to read it and to estimate its tokens


class ChecksExceeded(Exception):
    """The checks of this request took as much CPU time as one request may. Others may still check the same skill."""


class CheckTime:
    """The CPU time of one request for checks of new skills. Only one check of a request runs at a time."""

    def __init__(self, most: float) -> None:
        self._most, self._used = most, 0.0
        self._lock = threading.Lock()

    @contextmanager
    def measured(self, seconds: float) -> Iterator[None]:
        """Count a check that takes at most `seconds`. Raise ChecksExceeded if the sum could exceed the limit.

        The first check is always allowed, so that a request that is repeated makes progress.
        """
        with self._lock:
            if self._used and self._used + seconds > self._most:
                raise ChecksExceeded
            started = time.thread_time()
            try:
                yield
            finally:
                self._used += time.thread_time() - started


def check(bundle: Bundle, *, name: str, limits: Limits) -> None:
    """Raise InvalidSkill for errors. Warnings are accepted, as in an import."""
    skill_md.read(bundle[SKILL_MD], fallback_name=name, limits=limits)
    for finding in rules.refusals(bundle, limits=limits):
        place = f"{finding.file}, line {finding.line}" if finding.line else finding.file
        raise InvalidSkill(f"{place}: {finding.message} {finding.fix}", findings=[finding])


def most_seconds(bundle: Bundle, *, limits: Limits) -> float:
    """Return the CPU time that the checks of a skill and the estimate of its tokens need at most."""
    return rules.refusal_seconds(bundle, limits=limits) + len(bundle[SKILL_MD]) * _SECONDS_PER_BYTE
