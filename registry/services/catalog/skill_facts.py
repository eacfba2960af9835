"""What is worth knowing about the bytes of a skill: findings, which files were read, what each costs in tokens."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import lru_cache

from django.conf import settings

from registry.core.bundle import SKILL_MD, Bundle, FileEntry
from registry.core.catalog import prompt, token_estimate
from registry.core.catalog.prompt import CatalogLine
from registry.core.findings import Finding, in_reading_order
from registry.core.format import skill_md
from registry.core.lint import context, rules
from registry.core.text import diff
from registry.services.catalog.catalog import Loaded


@dataclass(frozen=True, slots=True)
class Facts:
    """What the bytes say, and whether what they require is there.

    `tokens` has the files that are text; `unread` those nobody could look into.
    """

    findings: tuple[Finding, ...]
    tokens: dict[str, int]
    unread: tuple[str, ...]
    catalog_tokens: int

    @property
    def files(self) -> int:
        return len(self.tokens) + len(self.unread)

    @property
    def resource_tokens(self) -> int:
        """All files beside SKILL.md, should an agent ask for each."""
        return sum(cost for path, cost in self.tokens.items() if path != SKILL_MD)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Equal where the bytes are: the same digest is not read twice."""

    digest: str
    name: str
    loaded: Loaded = field(compare=False)


def facts(loaded: Loaded, *, known_names: Collection[str]) -> Facts:
    """`known_names` are those of the project: the same bytes lack something in one and nothing in another."""
    kept = _facts(_Asked(loaded.candidate.digest, loaded.name, loaded))
    if all(name in known_names for name in loaded.candidate.requires):
        return kept
    bundle = Bundle({SKILL_MD: loaded.read(loaded.entry(SKILL_MD))})
    said = skill_md.read(bundle[SKILL_MD], fallback_name=loaded.name, limits=settings.LIMITS)
    found = rules.requirements(said, bundle, known_names=known_names, limits=settings.LIMITS)
    return replace(kept, findings=in_reading_order(dict.fromkeys([*kept.findings, *found])))


@lru_cache(maxsize=512)
def _facts(asked: _Asked) -> Facts:
    bundle = asked.loaded.bundle()
    said = skill_md.read(bundle[SKILL_MD], fallback_name=asked.name, limits=settings.LIMITS)
    texts = context.texts(bundle, settings.LIMITS)
    return Facts(
        findings=rules.lint(said, bundle, authoring=False, limits=settings.LIMITS),
        tokens={path: token_estimate.estimate(text) for path, text in texts.items()},
        unread=tuple(path for path in bundle if path not in texts),
        catalog_tokens=_catalog_tokens(asked.name, said.description),
    )


def _catalog_tokens(name: str, description: str) -> int:
    """What the skill's own line adds to every prompt."""
    shown = prompt.fit([CatalogLine(name, description)], budget=None, form="text", limits=settings.LIMITS)
    return token_estimate.estimate(prompt.as_text(shown).split("\n")[1])


@dataclass(frozen=True, slots=True)
class Difference:
    """How one skill differs from another: the paths that changed, came and went, and the lines in text that did."""

    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    lines_added: int = 0
    lines_removed: int = 0

    @property
    def files(self) -> int:
        return len(self.changed) + len(self.added) + len(self.removed)


@dataclass(frozen=True, slots=True)
class _AskedBoth:
    before: str
    after: str
    loaded: tuple[Loaded, Loaded] = field(compare=False)


def difference(before: Loaded, after: Loaded) -> Difference:
    return _difference(_AskedBoth(before.candidate.digest, after.candidate.digest, (before, after)))


@lru_cache(maxsize=512)
def _difference(asked: _AskedBoth) -> Difference:
    old, new = ({entry.path: entry for entry in loaded.files} for loaded in asked.loaded)
    changed = tuple(path for path in new if path in old and new[path].digest != old[path].digest)
    lines_added = lines_removed = 0
    for path in changed:
        texts = [_text(loaded, loaded.entry(path)) for loaded in asked.loaded]
        rows = diff.lines(texts[0], texts[1]) if texts[0] is not None and texts[1] is not None else ()
        lines_added += sum(row.kind in ("added", "changed") for row in rows)
        lines_removed += sum(row.kind in ("removed", "changed") for row in rows)
    return Difference(
        changed,
        tuple(path for path in new if path not in old),
        tuple(path for path in old if path not in new),
        lines_added,
        lines_removed,
    )


def _text(loaded: Loaded, entry: FileEntry) -> str | None:
    """Lines of very large files are not counted."""
    if entry.size > settings.LIMITS.skill_md_bytes:
        return None
    try:
        return loaded.read(entry).decode()
    except UnicodeDecodeError:
        return None
