"""The analysed form of skills: from the store of this node, or made from their SKILL.md and stored."""

from collections.abc import Mapping, Sequence

from registry.core.bundle import SKILL_MD
from registry.core.catalog.precedence import Candidate
from registry.core.errors import SkillsiteError
from registry.core.format import frontmatter, skill_md
from registry.core.routing import analysis, skill_text
from registry.core.routing.analysis import Analysed
from registry.core.routing.vectors import Encoder
from registry.services.catalog import catalog
from registry.services.catalog.catalog import Loaded
from registry.services.files import blobs
from registry.services.routing import index_store

_TITLE = "title"  # the key of a title in a header


def of(project_id: int, candidates: Sequence[Candidate], encoder: Encoder | None) -> dict[str, Analysed]:
    """Return the analyses of candidates by name. A skill that changed in the meantime is left out."""
    found = stored(candidates, encoder)
    missing = [candidate for candidate in candidates if candidate.name not in found]
    made = _made(project_id, missing, encoder) if missing else {}
    index_store.save(made, analysis.format_of(encoder))
    return found | {name: skill for (_, name), skill in made.items()}


def stored(candidates: Sequence[Candidate], encoder: Encoder | None) -> dict[str, Analysed]:
    """Return the analyses that are in the store of this node, by name."""
    found = index_store.load([_key(candidate) for candidate in candidates], analysis.format_of(encoder))
    return {name: skill for (_, name), skill in found.items()}


def of_header(candidate: Candidate, encoder: Encoder | None) -> Analysed:
    """Analyse name, description, triggers and tags alone, which takes a quarter of the time."""
    text = skill_text.of_parts(
        candidate.name, "", candidate.description, "", triggers=candidate.triggers, tags=candidate.tags
    )
    return analysis.analyse(text, encoder)


def of_content(name: str, content: bytes, encoder: Encoder | None) -> Analysed:
    """Analyse a SKILL.md that is not stored."""
    return analysis.analyse(skill_text.read(name, content), encoder)


def _key(candidate: Candidate) -> index_store.Key:
    return candidate.digest, candidate.name


def _made(
    project_id: int, candidates: Sequence[Candidate], encoder: Encoder | None
) -> Mapping[index_store.Key, Analysed]:
    wanted = {candidate.name: candidate for candidate in candidates}
    made: dict[index_store.Key, Analysed] = {}
    for loaded in catalog.load_many(project_id, candidates):
        candidate = wanted[loaded.name]
        if loaded.candidate.digest == candidate.digest:
            made[_key(candidate)] = _analysed(loaded, candidate, encoder)
    return made


def _analysed(loaded: Loaded, candidate: Candidate, encoder: Encoder | None) -> Analysed:
    """Analyse a skill. The candidate has all of its header but a title, and parsing YAML is slow."""
    title = body = ""
    try:
        content = _skill_md(loaded)
        header, body = frontmatter.split(content)
        if _TITLE in header:
            return of_content(candidate.name, content, encoder)
        title = skill_md.title_of(candidate.name, body)
    except (SkillsiteError, OSError):  # the stored file is damaged or out of reach
        pass
    text = skill_text.of_parts(
        candidate.name, title, candidate.description, body, triggers=candidate.triggers, tags=candidate.tags
    )
    return analysis.analyse(text, encoder)


def _skill_md(loaded: Loaded) -> bytes:
    if loaded.on_disk is not None:
        return loaded.on_disk.skill_md
    return blobs.read_once(loaded.entry(SKILL_MD))
