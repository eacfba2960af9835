"""Precedence: which skill wins a name, which ones it hides, and why.

The project's own skill wins over every directory of built-in skills. Among directories the first wins. Agents get no
skill under a name that the project switched off. At the root of the site, the first project with a skill of its own
wins, and built-in skills come last. No other module decides this.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

PROJECT, BUNDLED = "project", "bundled"
_Project = TypeVar("_Project")

_OVERRIDDEN = "The project’s own skill of this name takes precedence."
_OVERRIDDEN_BY_YANKED = (
    "The project’s own skill of this name takes precedence, although all its versions were withdrawn or quarantined."
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One skill that could be served under its name. `root` is the label of its directory, for built-in skills."""

    name: str
    source: str
    version: str
    digest: str
    description: str
    kind: str
    tags: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    tokens: int = 0
    root: str = ""
    changed_at: datetime | None = None
    changed_by: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A project's row for a name. `candidate` is None where the project has no available version."""

    name: str
    enabled: bool
    overrides: bool
    candidate: Candidate | None = None


@dataclass(frozen=True, slots=True)
class Hidden:
    """A candidate that lost its name to another, and the reason."""

    candidate: Candidate
    reason: str


@dataclass(frozen=True, slots=True)
class EffectiveSkill:
    """The skill that agents get under a name: `winner`, while the name is enabled.

    `winner` is None where the project overrides the name and every version is withdrawn or in quarantine.
    """

    name: str
    winner: Candidate | None
    enabled: bool
    hides: tuple[Hidden, ...] = ()

    @property
    def served(self) -> bool:
        return self.enabled and self.winner is not None

    @property
    def from_project(self) -> bool:
        """True where the project overrides the name, also if agents get none of its versions."""
        return self.winner is None or self.winner.source == PROJECT

    @property
    def customised(self) -> bool:
        """True where the project's own skill replaces a built-in one."""
        return self.winner is not None and self.from_project and bool(self.hides)

    @property
    def digest(self) -> str:
        """The digest of the winner, or an empty string where there is none."""
        return self.winner.digest if self.winner else ""


def digest_of(skill: EffectiveSkill | None) -> str:
    """Return the digest of the effective skill, or an empty string where agents get nothing under the name."""
    return skill.digest if skill else ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A problem of a skill, and how to fix it. `served` is true if agents get the skill all the same."""

    name: str
    directory: str
    file: str
    line: int | None
    code: str
    message: str
    served: bool = False


def resolve(name: str, bundled: Sequence[Candidate], claim: Claim | None) -> EffectiveSkill | None:
    """Return the effective skill of one name. `bundled` is in the order of the directories."""
    enabled = claim.enabled if claim else True
    if claim and claim.overrides:
        reason = _OVERRIDDEN if claim.candidate else _OVERRIDDEN_BY_YANKED
        return EffectiveSkill(name, claim.candidate, enabled, tuple(Hidden(c, reason) for c in bundled))
    if not bundled:
        return None
    hidden = tuple(Hidden(c, f"The skill in “{bundled[0].root}” was found first.") for c in bundled[1:])
    return EffectiveSkill(name, bundled[0], enabled, hidden)


def would_hide(effective: EffectiveSkill | None) -> tuple[Hidden, ...]:
    """Return what a new skill of the project would hide if it took the name of `effective`."""
    if effective is None:
        return ()
    winner = (effective.winner,) if effective.winner and not effective.from_project else ()
    return tuple(Hidden(c, _OVERRIDDEN) for c in (*winner, *(hidden.candidate for hidden in effective.hides)))


def resolve_all(bundled: Mapping[str, Sequence[Candidate]], claims: Mapping[str, Claim]) -> tuple[EffectiveSkill, ...]:
    """Return the effective skills of all names, sorted by name."""
    return tuple(_resolve_each(sorted(bundled.keys() | claims.keys()), bundled, claims))


def _resolve_each(
    names: Iterable[str], bundled: Mapping[str, Sequence[Candidate]], claims: Mapping[str, Claim]
) -> Iterator[EffectiveSkill]:
    for name in names:
        skill = resolve(name, bundled.get(name, ()), claims.get(name))
        if skill is not None:
            yield skill


def across_projects(projects: Iterable[tuple[_Project, Iterable[Candidate]]]) -> dict[str, tuple[_Project, Candidate]]:
    """Return the project and the candidate that win each name, for projects in the order of their precedence.

    A built-in skill never wins over a project's own skill, also if its project is listed first.
    """
    winners: dict[str, tuple[_Project, Candidate]] = {}
    for project, candidates in projects:
        for candidate in candidates:
            winner = winners.get(candidate.name)
            if winner is None or (candidate.source == PROJECT and winner[1].source == BUNDLED):
                winners[candidate.name] = project, candidate
    return winners


def withdrawn(skills: Iterable[EffectiveSkill]) -> tuple[Diagnostic, ...]:
    """Return the names that a project overrides although agents get none of its versions."""
    return tuple(
        Diagnostic(
            name=skill.name,
            directory="",
            file="",
            line=None,
            code="every-version-yanked",
            message=f"All versions of {skill.name} were withdrawn or are in quarantine. Publish a new version, lift a "
            "quarantine, or delete the skill to get a built-in skill of this name back.",
        )
        for skill in skills
        if skill.winner is None
    )
