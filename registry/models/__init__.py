"""Rows: fields, constraints, and querysets named for their reader."""

from registry.models.accounts import BrowserSession, Invitation, Membership, Project, SignInLink, User
from registry.models.agents import Agent, Token
from registry.models.audit import Chain, Event
from registry.models.drafts import Draft, Upload
from registry.models.proposals import (
    Approval,
    Backer,
    Proposal,
    ProposalComment,
    ProposalRevision,
    Recommendation,
)
from registry.models.skills import Skill, Version
from registry.models.usage import Usage

__all__ = [
    "Agent",
    "Approval",
    "Backer",
    "BrowserSession",
    "Chain",
    "Draft",
    "Event",
    "Invitation",
    "Membership",
    "Project",
    "Proposal",
    "ProposalComment",
    "ProposalRevision",
    "Recommendation",
    "SignInLink",
    "Skill",
    "Token",
    "Upload",
    "Usage",
    "User",
    "Version",
]
