"""What somebody suggests, checked against what stands: the skill before and after, and the words that go with it."""

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
from registry.core.proposals import assessment
from registry.core.proposals.assessment import Assessment
from registry.core.text import edits
from registry.core.text.edits import Edit
from registry.models import Agent, Project
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.permissions import Actor
from registry.services.skills import bundles, stale_proposals
from registry.services.skills.stale_proposals import DELETE

CREATE, UPDATE = "create", "update"
KINDS = (CREATE, UPDATE, DELETE)
TEXT_CHARS, EVIDENCE_PIECES, RUN_CHARS = 10_000, 20, 200
EVIDENCE_KINDS = ("text", "link", "log")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`edit` is None where the skill should go; `base_digest` is what its author started from, where they say so."""

    skill: str
    edit: Edit | None
    justification: str
    evidence: tuple[Mapping[str, str], ...] = ()
    kind: str | None = None
    base_digest: str | None = None
    run: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A suggestion that can be stored. `base` and `result` are None where nothing stands, or would."""

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
        """What makes two suggestions the same."""
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
    """Works out what the suggestion makes of the skill, held to the rules of authored content."""
    name = paths.check_component(normalise(suggestion.skill), what="name")
    standing = standing_for(project, name, by)
    kind = suggestion.kind or (UPDATE if standing and standing.winner else CREATE)
    base_digest = _base(kind, name, standing)
    if suggestion.base_digest and suggestion.base_digest != base_digest:
        raise StaleProposal(
            f"{name} is {base_digest or 'gone'} now; you started from {suggestion.base_digest}. Load it again and "
            "bring your change over. Nothing was stored.",
            digest=base_digest,
        )
    base = _bundle(project, name, standing)
    if base is not None and base.digest != base_digest:
        raise StaleProposal(f"{name} changed meanwhile. Try again. Nothing was stored.", digest=base.digest)
    if kind == DELETE:
        return Prepared(name, kind, base, base_digest, None)
    if suggestion.edit is None:
        raise InvalidRequest("Send one of diff, skill_md and files. Nothing was stored.")
    result = edits.apply(suggestion.edit, base, name=name, limits=settings.LIMITS)
    checked = bundles.check(result, authoring=True, directory=name)
    if base is not None and result.digest == base.digest:
        raise InvalidRequest(f"The suggestion leaves {name} as it is. Nothing was stored.")
    return Prepared(name, kind, base, base_digest, result, checked.findings)


def weighed(prepared: Prepared) -> Assessment:
    """What a reviewer wants to know first. It reads the whole skill, so it is done before the transaction."""
    after = left(prepared.name, prepared.kind, prepared.result)
    return assessment.assess(prepared.base, after, name=prepared.name, limits=settings.LIMITS)


def left(name: str, kind: str, result: Bundle | None) -> Bundle | None:
    """What agents get afterwards: the bundled skill where the project's own would go."""
    if kind != DELETE:
        return result
    bundled = catalog.built_in_skill(name)
    return bundled.bundle() if bundled else None


def standing_for(project: Project, name: str, by: Actor) -> EffectiveSkill | None:
    """What stands under the name, for this proposer: an agent is told nothing about what it cannot load."""
    standing = catalog.find(project.pk, name)
    if standing is None or can_load(standing, by):
        return standing
    if standing.winner is None:
        return None
    raise NotFound(f"There is no skill {paths.display(name)} that you can change in this project.")


def can_load(standing: EffectiveSkill, by: Actor) -> bool:
    """People see every skill of their project; an agent those that are switched on and that it is given."""
    if by.agent_id is None:
        return True
    agent = Agent.objects.get(pk=by.agent_id)
    given = agent.allowed_skills is None or standing.name in {
        normalise(known) for known in (*agent.allowed_skills, *agent.uses_skills)
    }
    return standing.enabled and given


def _base(kind: str, name: str, standing: EffectiveSkill | None) -> str:
    """The digest it is made for; the kind has to fit what stands."""
    if kind not in KINDS:
        raise InvalidRequest(f"There is no kind {kind!r}. There are: {', '.join(KINDS)}.")
    digest = stale_proposals.base_now(kind, standing)
    if digest is None:
        raise NotFound(f"The project has no skill {paths.display(name)} of its own that could be deleted.")
    if kind == CREATE and digest:
        raise AlreadyExists(f"There is a skill {name} already. Propose an update of it. Nothing was stored.")
    if kind == UPDATE and not digest:
        raise NotFound(f"There is no skill {paths.display(name)} to update. Propose to create it.")
    return digest


def _bundle(project: Project, name: str, standing: EffectiveSkill | None) -> Bundle | None:
    if standing is None or standing.winner is None:
        return None
    _, loaded = catalog.inspect(project, name)
    return loaded.bundle() if loaded else None


def text(value: str, *, what: str, most: int = TEXT_CHARS, needed: bool = True) -> str:
    value = value.strip()
    if needed and not value:
        raise InvalidRequest(f"The {what} is missing. Nothing was stored.")
    if len(value) > most:
        raise InvalidRequest(f"The {what} has {len(value):,} characters. {most:,} are allowed. Nothing was stored.")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidRequest(f"The {what} has a NUL or half a character. Remove it. Nothing was stored.")
    return value


def evidence(pieces: Sequence[Any]) -> tuple[Mapping[str, str], ...]:
    """Each piece is a text, or a map of `kind` (text, link or log) and `text`; a bare address is a link."""
    if len(pieces) > EVIDENCE_PIECES:
        raise InvalidRequest(
            f"There are {len(pieces)} pieces of evidence. {EVIDENCE_PIECES} are allowed. Nothing was stored."
        )
    return tuple(_piece(piece) for piece in pieces)


def _piece(piece: Any) -> Mapping[str, str]:
    if isinstance(piece, str):
        said = text(piece, what="evidence")
        is_link = said.startswith(("https://", "http://")) and not any(map(str.isspace, said))
        return {"kind": "link" if is_link else "text", "text": said}
    if isinstance(piece, Mapping) and set(piece) == {"kind", "text"} and isinstance(piece["text"], str):
        if piece["kind"] not in EVIDENCE_KINDS:
            raise InvalidRequest(f"Evidence is one of {', '.join(EVIDENCE_KINDS)}; not {piece['kind']!r}.")
        return {"kind": piece["kind"], "text": text(piece["text"], what="evidence")}
    raise InvalidRequest('A piece of evidence is a text, or {"kind": "text", "link" or "log", "text": "…"}.')


def require_voice(by: Actor) -> None:
    """Proposals and decisions are somebody's: a person's, or for proposals an agent's."""
    if by.user_id is None and by.agent_id is None:
        raise Forbidden(f"{by.name} cannot propose: a proposal is of a person or an agent.")
