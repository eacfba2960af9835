"""How hard the suite tries: quickly each day, and with SOAK_ROUNDS long enough to find what is rare."""

import os

_SOAK = os.environ.get("SOAK_ROUNDS", "")


def rounds(few: int) -> int:
    """How often a race is run or a process killed."""
    return int(_SOAK or few)


def examples(few: int) -> int:
    """How many examples a law is tried with."""
    return few * 10 if _SOAK else few
