"""Rows: fields, constraints, and querysets named for their reader."""

from registry.models.accounts import Membership, Project, SignInLink, User
from registry.models.agents import Agent, Token
from registry.models.audit import Chain, Event
from registry.models.skills import Skill, Version
from registry.models.usage import Usage

__all__ = [
    "Agent",
    "Chain",
    "Event",
    "Membership",
    "Project",
    "SignInLink",
    "Skill",
    "Token",
    "Usage",
    "User",
    "Version",
]
