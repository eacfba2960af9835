"""Checks of a suggested change before it is stored as a proposal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import timezone

from registry.core import paths
from registry.core.bundle import Bundle, normalise
from registry.core.catalog.precedence import EffectiveSkill
from registry.core.errors import AlreadyExists, Forbidden, InvalidRequest, NotFound, StaleProposal
from registry.core.findings import Finding
from registry.core.limits import Limits
from registry.core.proposals import assessment
from registry.core.proposals.assessment import Assessment
from registry.core.text import edits
from registry.core.text.edits import Edit
from registry.lib.lru import LruCache
from registry.models import Agent, Project
from registry.services.capabilities import capability_registry
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.permissions import Actor, reach
from registry.services.skills import bundles, stale_proposals
from registry.services.skills.stale_proposals import DELETE

CREATE, UPDATE = "create", "update"
KINDS = (CREATE, UPDATE, DELETE)
TEXT_CHARS, EVIDENCE_PIECES, RUN_CHARS = 10_000, 20, 200
EVIDENCE_KINDS = ("text", "link", "log")

_AssessmentKey = tuple[str, str, str, Limits, str]
_assessments: LruCache[_AssessmentKey, Assessment] = LruCache(100_000, largest=10_000)  # findings and capabilities


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested change. `edit` is None to delete the skill; `base_digest` is the version the author started from."""

    skill: str
    edit: Edit | None
    justification: str
    evidence: tuple[Mapping[str, str], ...] = ()
    kind: str | None = None
    base_digest: str | None = None
    run: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked suggestion. `base` is None for a new skill, `result` for a deletion."""

    name: str
    kind: str
    base: Bundle | None
    base_digest: str
    result: Bundle | None
    findings: tuple[Finding, ...] = ()

    @property
    def result_digest(self) -> str:
        return self.result.digest if self.result else ""

    @property
    def key(self) -> dict[str, str]:
        """The columns that are equal in two equal proposals."""
        return {
            "skill": self.name,
            "kind": self.kind,
            "base_digest": self.base_digest,
            "result_digest": self.result_digest,
        }

    def store(self) -> None:
        for bundle in (self.base, self.result):
            if bundle is not None:
                blobs.put(bundle, now=timezone.now())


def prepare(project: Project, suggestion: Suggestion, *, by: Actor) -> Prepared:
    """Apply the suggestion to the current skill, and check the result by the rules for authored content."""
    name = paths.check_component(normalise(suggestion.skill), what="name")
    current = effective_skill(project, name, by)
    kind = suggestion.kind or (UPDATE if current and current.winner else CREATE)
    base_digest = _base(kind, name, current)
    if suggestion.base_digest and suggestion.base_digest != base_digest:
        raise StaleProposal(
            f"{name} is now {base_digest or 'deleted'}; you started from {suggestion.base_digest}. Load it again and "
            "apply your change to it. Nothing was saved.",
            digest=base_digest,
        )
    base = _bundle(project, name, current)
    if base is not None and base.digest != base_digest:
        raise StaleProposal(f"{name} changed in the meantime. Try again. Nothing was saved.", digest=base.digest)
    if kind == DELETE:
        return Prepared(name, kind, base, base_digest, None)
    if suggestion.edit is None:
        raise InvalidRequest("Send one of diff, skill_md and files. Nothing was saved.")
    result = edits.apply(suggestion.edit, base, name=name, limits=settings.LIMITS)
    checked = bundles.check(result, authoring=True, directory=name, project=project)
    if base is not None and result.digest == base.digest:
        raise InvalidRequest(f"The proposal does not change {name}. Nothing was saved.")
    return Prepared(name, kind, base, base_digest, result, checked.findings)


def assess(project: Project, prepared: Prepared) -> Assessment:
    """Assess the change. This reads the whole skill, so call it before the transaction."""
    after = result_for_agents(prepared.name, prepared.kind, prepared.result)
    return assess_change(project, prepared.base, after, name=prepared.name)


def assess_change(project: Project, before: Bundle | None, after: Bundle | None, *, name: str) -> Assessment:
    """Return the assessment of a change. It is kept by digest, because every view of a proposal shows it."""
    limits = settings.LIMITS
    capabilities = capability_registry.for_workflows(project.pk, before, after)
    definitions = capabilities.fingerprint if capabilities else ""
    key = (before.digest if before else "", after.digest if after else "", name, limits, definitions)
    kept = _assessments.get(key)
    if kept is None:
        known = capabilities.by_id if capabilities else None
        kept = assessment.assess(before, after, name=name, limits=limits, registered=known)
        _assessments.put(key, kept, kept.length)
    return kept


def result_for_agents(name: str, kind: str, result: Bundle | None) -> Bundle | None:
    """Return what agents get after approval: for a deletion, the built-in skill if there is one."""
    if kind != DELETE:
        return result
    built_in = catalog.built_in_skill(name)
    return built_in.bundle() if built_in else None


def effective_skill(project: Project, name: str, by: Actor) -> EffectiveSkill | None:
    """Return the current skill. For an agent that cannot load it, the skill does not exist.

    An agent with a list gets the same error for every other name, whether the project has such a skill or not.
    """
    names = reach(by)
    if names is not None and name not in names:
        raise NotFound(
            f"This project has no skill {paths.display(name)} that you can change. You can propose only the skills on "
            "your list."
        )
    current = catalog.find(project.pk, name)
    if current is None or can_load(current, by):
        return current
    if current.winner is None:
        return None
    raise NotFound(f"This project has no skill {paths.display(name)} that you can change.")


def can_load(current: EffectiveSkill, by: Actor) -> bool:
    """Return whether the actor can load the skill. An agent can load enabled skills on its list only."""
    if by.agent_id is None:
        return True
    agent = Agent.objects.get(pk=by.agent_id)
    allowed = agent.allowed_skills is None or current.name in {
        normalise(known) for known in (*agent.allowed_skills, *agent.uses_skills)
    }
    return current.enabled and allowed


def _base(kind: str, name: str, current: EffectiveSkill | None) -> str:
    """Return the digest of the base. Raise an error if the kind does not match the current skill."""
    if kind not in KINDS:
        raise InvalidRequest(f"{kind!r} is not a kind of proposal. Use one of: {', '.join(KINDS)}.")
    digest = stale_proposals.current_base(kind, current)
    if digest is None:
        raise NotFound(f"This project has no skill {paths.display(name)} of its own to delete.")
    if kind == CREATE and digest:
        raise AlreadyExists(f"{name} already exists. Propose an update instead. Nothing was saved.")
    if kind == UPDATE and not digest:
        raise NotFound(f"The skill {paths.display(name)} does not exist. Propose to create it.")
    return digest


def _bundle(project: Project, name: str, current: EffectiveSkill | None) -> Bundle | None:
    if current is None or current.winner is None:
        return None
    _, loaded = catalog.inspect(project, name)
    return loaded.bundle() if loaded else None


def text(value: str, *, what: str, most: int = TEXT_CHARS, needed: bool = True) -> str:
    value = value.strip()
    if needed and not value:
        raise InvalidRequest(f"The {what} is missing. Nothing was saved.")
    if len(value) > most:
        raise InvalidRequest(f"The {what} has {len(value):,} characters. {most:,} are allowed. Nothing was saved.")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidRequest(f"The {what} contains a NUL or an unpaired surrogate. Remove it. Nothing was saved.")
    return value


def evidence(pieces: Sequence[Any]) -> tuple[Mapping[str, str], ...]:
    """Check evidence. A piece is a string, or a map of `kind` and `text`; a string that is a URL becomes a link."""
    if len(pieces) > EVIDENCE_PIECES:
        raise InvalidRequest(
            f"There are {len(pieces)} pieces of evidence. {EVIDENCE_PIECES} are allowed. Nothing was saved."
        )
    return tuple(_piece(piece) for piece in pieces)


def _piece(piece: Any) -> Mapping[str, str]:
    if isinstance(piece, str):
        value = text(piece, what="evidence")
        is_link = value.startswith(("https://", "http://")) and not any(map(str.isspace, value))
        return {"kind": "link" if is_link else "text", "text": value}
    if isinstance(piece, Mapping) and set(piece) == {"kind", "text"} and isinstance(piece["text"], str):
        if piece["kind"] not in EVIDENCE_KINDS:
            raise InvalidRequest(
                f"{piece['kind']!r} is not a kind of evidence. Use one of: {', '.join(EVIDENCE_KINDS)}."
            )
        return {"kind": piece["kind"], "text": text(piece["text"], what="evidence")}
    raise InvalidRequest('A piece of evidence is a string, or {"kind": "text", "link" or "log", "text": "…"}.')


def require_proposer_identity(by: Actor) -> None:
    """Require a person or an agent, because every proposal has a proposer."""
    if by.user_id is None and by.agent_id is None:
        raise Forbidden(f"{by.name} cannot propose. Only a person or an agent can.")
