"""How far an agent is trusted, from least to most."""

SANDBOX, STANDARD, ELEVATED, PRIVILEGED = "sandbox", "standard", "elevated", "privileged"
LEVELS = (SANDBOX, STANDARD, ELEVATED, PRIVILEGED)
