"""Rows: fields, constraints, and querysets named for their reader."""

from registry.models.accounts import BrowserSession, Invitation, Membership, Project, SignInLink, User
from registry.models.agents import Agent, Token
from registry.models.audit import Chain, Event
from registry.models.drafts import Draft, Upload
from registry.models.notifications import EmailConfirmation, EmailPreference, Notification, NotificationEmail
from registry.models.proposals import (
    Approval,
    Backer,
    Proposal,
    ProposalComment,
    ProposalRevision,
    Recommendation,
)
from registry.models.routing import Evaluation, GoldenCase, RouteLog, RoutingSettings
from registry.models.scans import Scan, Suppression
from registry.models.skills import Skill, Version
from registry.models.sources import (
    Installation,
    Provenance,
    Source,
    SourceEntry,
    SourceJob,
    SourceJobItem,
)
from registry.models.usage import Usage
from registry.models.webhooks import Delivery, Endpoint
from registry.models.workflows import (
    ProjectCapability,
    Run,
    RunApproval,
    RunBlob,
    RunLock,
    RunQuestion,
    RunStep,
    RunTask,
)

__all__ = [
    "Agent",
    "Approval",
    "Backer",
    "BrowserSession",
    "Chain",
    "Delivery",
    "Draft",
    "EmailConfirmation",
    "EmailPreference",
    "Endpoint",
    "Evaluation",
    "Event",
    "GoldenCase",
    "Installation",
    "Invitation",
    "Membership",
    "Notification",
    "NotificationEmail",
    "Project",
    "ProjectCapability",
    "Proposal",
    "ProposalComment",
    "ProposalRevision",
    "Provenance",
    "Recommendation",
    "RouteLog",
    "RoutingSettings",
    "Run",
    "RunApproval",
    "RunBlob",
    "RunLock",
    "RunQuestion",
    "RunStep",
    "RunTask",
    "Scan",
    "SignInLink",
    "Skill",
    "Source",
    "SourceEntry",
    "SourceJob",
    "SourceJobItem",
    "Suppression",
    "Token",
    "Upload",
    "Usage",
    "User",
    "Version",
]
