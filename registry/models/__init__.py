"""Rows: fields, constraints, and querysets named for their reader."""

from registry.models.accounts import BrowserSession, Invitation, Membership, Project, SignInLink, User
from registry.models.agents import Agent, Token
from registry.models.audit import Chain, Event
from registry.models.drafts import Draft, Upload
from registry.models.skills import Skill, Version
from registry.models.usage import Usage

__all__ = [
    "Agent",
    "BrowserSession",
    "Chain",
    "Draft",
    "Event",
    "Invitation",
    "Membership",
    "Project",
    "SignInLink",
    "Skill",
    "Token",
    "Upload",
    "Usage",
    "User",
    "Version",
]
