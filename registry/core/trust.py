"""How far an agent is trusted, from least to most."""

SANDBOX, STANDARD, ELEVATED, PRIVILEGED = "sandbox", "standard", "elevated", "privileged"
LEVELS = (SANDBOX, STANDARD, ELEVATED, PRIVILEGED)


def at_least(level: str, needed: str) -> bool:
    return LEVELS.index(level) >= LEVELS.index(needed)
