"""Paths of well-known discovery, and names in its index."""

import hashlib
from typing import Any

from registry.models import Project, Token
from registry.services.agents import tokens
from registry.services.permissions import Actor

NEW = "/.well-known/agent-skills"
OLD = "/.well-known/skills"


def revoke_all(project: Project, operator: Actor) -> None:
    for token in Token.objects.filter(project=project, revoked_at=None):
        tokens.revoke_token(project, token.pk, by=operator)


def names(answer: Any) -> list[str]:
    return [entry["name"] for entry in answer.json()["skills"]]


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
