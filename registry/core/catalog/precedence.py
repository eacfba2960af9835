"""Disk and database become effective skills: which one wins a name, what it hides, and why.

Precedence lives here only. The project's own skill wins over any directory; among directories the first wins;
a name that the project switched off reaches nobody, whatever its source.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

PROJECT, BUNDLED = "project", "bundled"

_OWN_FIRST = "The project’s own skill of this name comes first."
_OWN_WITHDRAWN = "The project’s own skill of this name comes first, though every version of it was withdrawn."


@dataclass(frozen=True, slots=True)
class Candidate:
    """One skill that could be served under its name. `root` labels the directory it came from."""

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
    """What a project says about a name; `candidate` is None where every version of its own was yanked."""

    name: str
    enabled: bool
    overrides: bool
    candidate: Candidate | None = None


@dataclass(frozen=True, slots=True)
class Hidden:
    candidate: Candidate
    reason: str


@dataclass(frozen=True, slots=True)
class EffectiveSkill:
    """The skill that agents get under a name: `winner`, while the name is enabled.

    `winner` is None where the project overrides the name and yanked every version.
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
        """True where the project overrides the name, also if every version is yanked."""
        return self.winner is None or self.winner.source == PROJECT

    @property
    def hides_bundled(self) -> bool:
        return self.winner is not None and self.from_project and bool(self.hides)

    @property
    def digest(self) -> str:
        """The digest of the winner, or an empty string where there is none."""
        return self.winner.digest if self.winner else ""


def digest_of(skill: EffectiveSkill | None) -> str:
    """Return the digest of the effective skill, or an empty string where agents get nothing under the name."""
    return skill.digest if skill else ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A skill that no agent gets, and what to mend."""

    name: str
    directory: str
    file: str
    line: int | None
    code: str
    message: str


def resolve(name: str, bundled: Sequence[Candidate], claim: Claim | None) -> EffectiveSkill | None:
    """The outcome for one name, given the bundled skills of that name in the order of their directories."""
    enabled = claim.enabled if claim else True
    if claim and claim.overrides:
        reason = _OWN_FIRST if claim.candidate else _OWN_WITHDRAWN
        return EffectiveSkill(name, claim.candidate, enabled, tuple(Hidden(c, reason) for c in bundled))
    if not bundled:
        return None
    hidden = tuple(Hidden(c, f"The skill in “{bundled[0].root}” was found first.") for c in bundled[1:])
    return EffectiveSkill(name, bundled[0], enabled, hidden)


def would_hide(standing: EffectiveSkill | None) -> tuple[Hidden, ...]:
    """What a skill of the project hides if it is stored under the name that `standing` tells about."""
    if standing is None:
        return ()
    shown = (standing.winner,) if standing.winner and standing.winner.source == BUNDLED else ()
    return tuple(Hidden(c, _OWN_FIRST) for c in (*shown, *(hidden.candidate for hidden in standing.hides)))


def resolve_all(bundled: Mapping[str, Sequence[Candidate]], claims: Mapping[str, Claim]) -> tuple[EffectiveSkill, ...]:
    """Every name either side knows, in order of name."""
    return tuple(_resolve_each(sorted(bundled.keys() | claims.keys()), bundled, claims))


def _resolve_each(
    names: Iterable[str], bundled: Mapping[str, Sequence[Candidate]], claims: Mapping[str, Claim]
) -> Iterator[EffectiveSkill]:
    for name in names:
        skill = resolve(name, bundled.get(name, ()), claims.get(name))
        if skill is not None:
            yield skill


def withdrawn(effective: Iterable[EffectiveSkill]) -> tuple[LeftOut, ...]:
    """The names a project took and then withdrew every version of."""
    return tuple(
        LeftOut(
            name=skill.name,
            directory="",
            file="",
            line=None,
            code="every-version-yanked",
            message=f"Every version of {skill.name} was withdrawn. Save a new version, or delete the skill "
            "so that a bundled one of the same name shows again.",
        )
        for skill in effective
        if skill.winner is None
    )
