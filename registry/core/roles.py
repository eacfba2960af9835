"""Roles of people, scopes of tokens, and trust levels of agents."""

READ, PROPOSE, WRITE, REVIEW, RUN, MANAGE = "read", "propose", "write", "review", "run", "manage"
SCOPES = (READ, PROPOSE, WRITE, REVIEW, RUN, MANAGE)

VIEWER, AUTHOR, REVIEWER, OWNER = "viewer", "author", "reviewer", "owner"
ROLES = (VIEWER, AUTHOR, REVIEWER, OWNER)

SCOPES_OF_ROLE: dict[str, frozenset[str]] = {
    VIEWER: frozenset({READ, PROPOSE}),
    AUTHOR: frozenset({READ, PROPOSE, WRITE, RUN}),
    REVIEWER: frozenset({READ, PROPOSE, WRITE, RUN, REVIEW}),
    OWNER: frozenset(SCOPES),
}

# Agents propose and people decide, so a token of an agent never has these scopes.
NEVER_FOR_AGENTS = frozenset({REVIEW, MANAGE})

DEFAULT_AGENT_SCOPES = (READ, PROPOSE)
DEFAULT_PERSON_SCOPES = (READ,)

# Trust levels of agents, from least to most trusted.
SANDBOX, STANDARD, ELEVATED, PRIVILEGED = "sandbox", "standard", "elevated", "privileged"
TRUST_LEVELS = (SANDBOX, STANDARD, ELEVATED, PRIVILEGED)
