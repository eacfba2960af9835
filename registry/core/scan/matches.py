"""Matches: places in a text where a rule of the scan applies, before they become findings."""

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """The ids of the rules. They are part of the API and must never change."""

    UNREAD = "code-unread"
    INSTALLER = "code-installer"
    NAMES = "code-names-built"
    REMOTE_SHELL = "code-remote-shell"
    PERSISTS = "code-persists"
    DESERIALISES = "code-deserialises"
    SECRET_SENT = "secret-sent"  # noqa: S105
    PERMISSIONS = "permission-bypass"
    OVERRIDE = "orders-override"
    CONCEAL = "orders-conceal"
    REMOTE_ORDERS = "orders-remote"
    DATA_SENT = "orders-send"
    ACCESS = "orders-access"
    OPAQUE = "text-opaque"
    CREDENTIAL = "credential"
    STYLE = "hidden-style"
    CONFUSABLE = "text-confusable"
    TYPO = "name-typo"


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """`line` is 1-based. `detail` is the excerpt that the message quotes."""

    line: int
    rule: Rule
    detail: str


class TooComplex(Exception):
    """The text exceeds a bound of the scan, so its syntax was not analysed."""
