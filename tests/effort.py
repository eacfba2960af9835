"""Effort of a test run: a fixed set of examples every day, random and long runs with SOAK_ROUNDS."""

import os

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

_SOAK = os.environ.get("SOAK_ROUNDS", "")
SOAKING = bool(_SOAK)

# Seconds that a test waits for an event that is certain to happen. Long, because the machine may be busy.
PATIENCE = 120.0

# No deadline: a slow example on a busy machine is not a wrong one.
_ALWAYS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("daily", _ALWAYS, derandomize=True, database=None)
settings.register_profile("soak", _ALWAYS, derandomize=False, print_blob=True)


def load_profile() -> None:
    """Choose the Hypothesis profile. Call this before any module that contains Hypothesis tests is imported."""
    settings.load_profile("soak" if SOAKING else "daily")
    if not SOAKING:
        # Hypothesis also tries constants of the imported modules, and each worker imports other ones.
        providers._get_local_constants = Constants


def rounds(few: int) -> int:
    """Return how often a race is run or a process killed."""
    return int(_SOAK or few)


def examples(few: int) -> int:
    """Return how many examples Hypothesis tries."""
    return few * 10 if SOAKING else few
