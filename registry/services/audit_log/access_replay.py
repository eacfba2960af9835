"""Replay of the events about options, suppressions, agents and tokens of a project."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from registry.core import roles
from registry.core.audit.chain import SITE
from registry.models import Agent, Event, Project, Suppression, Token
from registry.models.accounts import ERROR

_OPTIONS: dict[str, tuple[str, bool]] = {
    "project.published": ("public", True),
    "project.unpublished": ("public", False),
    "project.protected": ("protected", True),
    "project.unprotected": ("protected", False),
    "project.advice-allowed": ("reviewer_agents", True),
    "project.advice-ended": ("reviewer_agents", False),
    "project.makers-approve": ("makers_approve", True),
    "project.makers-excluded": ("makers_approve", False),
    "project.quarantine-automatic": ("quarantines_alarms", True),
    "project.quarantine-manual": ("quarantines_alarms", False),
    "project.archived": ("archived", True),
    "project.brought-back": ("archived", False),
}
_ACCESS: dict[str, object] = {"uses_skills": [], "allowed_skills": None, "trust": roles.STANDARD, "best_skills": None}


def tokens_of_closed_accounts() -> frozenset[int]:
    """Return the tokens that the site's own chain says were revoked, because an account was closed."""
    closed = Event.objects.filter(chain__name=SITE, verb="user.deactivated").values_list("data", flat=True)
    return frozenset(pk for data in closed.iterator(chunk_size=2_000) for pk in _revoked(data))


def _revoked(data: dict[str, Any]) -> list[int]:
    """Return the tokens that an event revoked. Early events of removed agents have only their number."""
    for key in ("revoked", "tokens"):
        if isinstance(data.get(key), list):
            return [pk for pk in data[key] if isinstance(pk, int)]
    return []


@dataclass(slots=True)
class _TokenState:
    holder: str
    data: dict[str, Any]


class AccessReplay:
    """Options, suppressions, agents and tokens as the events of one project left them."""

    def __init__(self) -> None:
        self._options: dict[str, object] = dict.fromkeys((name for name, _ in _OPTIONS.values()), False)
        self._options["blocking"] = ERROR
        self._suppressed: dict[tuple[object, ...], str] = {}
        self._agents: dict[str, dict[str, object] | None] = {}
        self._tokens: dict[int, _TokenState] = {}
        self._revoked: set[int] = set()

    def add(self, event: Event) -> None:
        verb, data = event.verb, event.data
        if verb in _OPTIONS:
            name, on = _OPTIONS[verb]
            self._options[name] = on
        elif verb == "project.blocking-set":
            self._options["blocking"] = data.get("blocking")
        elif verb == "finding.suppressed":
            self._suppressed[_place(data)] = data["expires_at"]
        elif verb == "suppression.ended":
            self._suppressed.pop(_place(data), None)
        elif verb in ("agent.created", "agent.changed"):
            self._agents[event.target] = {key: data.get(key, default) for key, default in _ACCESS.items()}
        elif verb == "token.created" and "scopes" in data:
            self._tokens[data["token"]] = _TokenState(event.target, data)
        elif verb == "token.revoked":
            self._revoked.add(data.get("token", 0))
        elif verb in ("agent.removed", "member.set", "member.removed"):
            self._revoked.update(_revoked(data))
            if verb == "agent.removed":
                self._agents[event.target] = None

    def differences(self, project_id: int, closed: Collection[int]) -> Iterator[str]:
        """Yield a sentence for each row that differs from its events. `closed` are tokens of closed accounts."""
        yield from self._changed_options(project_id)
        yield from self._suppressions(project_id)
        yield from self._changed_agents(project_id)
        yield from self._changed_tokens(project_id, closed)

    def _changed_options(self, project_id: int) -> Iterator[str]:
        project = Project.objects.get(pk=project_id)
        for name, recorded in self._options.items():
            value = project.archived_at is not None if name == "archived" else getattr(project, name)
            if value != recorded:
                yield f"the option {name} of the project is {_shown(value)}, and its events say {_shown(recorded)}"

    def _suppressions(self, project_id: int) -> Iterator[str]:
        missing = dict(self._suppressed)
        rows = Suppression.objects.filter(project=project_id, ended_at=None)
        columns = ("digest", "rule", "file", "line", "skill", "expires_at")
        for *place, skill, expires_at in rows.values_list(*columns).iterator(chunk_size=2_000):
            what = f"the suppression of {place[1]} in {place[2]} of {skill}"
            recorded = missing.pop(tuple(place), None)
            if recorded is None:
                yield f"{what} has no event"
            elif datetime.fromisoformat(recorded) != expires_at:
                yield f"{what} expires at {expires_at.isoformat()}, and its event says {recorded}"
        for digest, rule, file, _ in missing:
            yield f"the suppression of {rule} in {file} of {digest} is missing, and no event says so"

    def _changed_agents(self, project_id: int) -> Iterator[str]:
        rows = Agent.objects.filter(project=project_id, removed_at=None).values_list("name", *_ACCESS)
        for name, *values in rows.iterator(chunk_size=2_000):
            recorded = self._agents.get(name)
            if recorded is None:
                yield f"the agent {name} {'was removed' if name in self._agents else 'has no event'}"
                continue
            for key, value in zip(_ACCESS, values, strict=True):
                if value != recorded[key]:
                    yield f"{key} of the agent {name} is {value}, and its events say {recorded[key]}"

    def _changed_tokens(self, project_id: int, closed: Collection[int]) -> Iterator[str]:
        columns = ("pk", "agent__name", "user__username", "scopes", "expires_at", "revoked_at")
        rows = Token.objects.filter(project=project_id).values_list(*columns)
        for pk, agent, user, scopes, expires_at, revoked_at in rows.iterator(chunk_size=2_000):
            holder, token = agent or user, self._tokens.get(pk)
            if token is None:
                yield f"token {pk} of {holder} has no event"
                continue
            if holder != token.holder:
                yield f"token {pk} is of {holder}, and its event says {token.holder}"
            if sorted(scopes) != sorted(token.data["scopes"]):
                yield f"token {pk} of {holder} has the scopes {scopes}, and its event says {token.data['scopes']}"
            expires = expires_at.isoformat() if expires_at else None
            if "expires_at" in token.data and expires != token.data["expires_at"]:
                yield f"token {pk} of {holder} expires at {expires}, and its event says {token.data['expires_at']}"
            if revoked_at is None and (pk in self._revoked or pk in closed):
                yield f"token {pk} of {holder} is valid, and its events say that it was revoked"


def _place(data: dict[str, Any]) -> tuple[object, ...]:
    return data["digest"], data["rule"], data["file"], data["line"]


def _shown(value: object) -> str:
    return ("off", "on")[value] if isinstance(value, bool) else str(value)
