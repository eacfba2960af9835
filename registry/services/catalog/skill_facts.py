"""Facts about the content of a skill: findings, token estimates, and the difference between two skills."""

from collections.abc import Collection, Mapping
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
from registry.core.text.patience_diff import Effort
from registry.core.workflows.capability import Capability
from registry.core.workflows.plan import FILE as WORKFLOW
from registry.services.catalog.catalog import Loaded


@dataclass(frozen=True, slots=True)
class Facts:
    """Findings and sizes of one skill. `tokens` has an entry for each text that lint reads, `unread` for others."""

    findings: tuple[Finding, ...]
    tokens: dict[str, int]
    unread: tuple[str, ...]
    catalog_tokens: int

    @property
    def files(self) -> int:
        return len(self.tokens) + len(self.unread)

    @property
    def resource_tokens(self) -> int:
        """The tokens of all files except SKILL.md."""
        return sum(cost for path, cost in self.tokens.items() if path != SKILL_MD)


@dataclass(frozen=True, slots=True)
class _FactsKey:
    """Cache key: equal for equal content, so that no digest is read twice."""

    digest: str
    name: str
    loaded: Loaded = field(compare=False)


def facts(
    loaded: Loaded, *, known_names: Collection[str], capabilities: Mapping[str, Capability] | None = None
) -> Facts:
    """Return the facts about a skill.

    `known_names` of the project decide whether its requirements are met, and `capabilities` whether its workflow can
    run. None for `capabilities` means that they are unknown.
    """
    cached = _facts(_FactsKey(loaded.candidate.digest, loaded.name, loaded))
    has_workflow = capabilities is not None and any(entry.path == WORKFLOW for entry in loaded.files)
    if all(name in known_names for name in loaded.candidate.requires) and not has_workflow:
        return cached
    read = (SKILL_MD, WORKFLOW) if has_workflow else (SKILL_MD,)
    bundle = Bundle({path: loaded.read(loaded.entry(path)) for path in read})
    skill = skill_md.read(bundle[SKILL_MD], fallback_name=loaded.name, limits=settings.LIMITS)
    unmet = rules.requirements(
        skill, bundle, known_names=known_names, limits=settings.LIMITS, capabilities=capabilities
    )  # fmt: skip
    return replace(cached, findings=in_reading_order(dict.fromkeys([*cached.findings, *unmet])))


@lru_cache(maxsize=512)
def _facts(key: _FactsKey) -> Facts:
    bundle = key.loaded.bundle()
    skill = skill_md.read(bundle[SKILL_MD], fallback_name=key.name, limits=settings.LIMITS)
    texts = context.readable(bundle, settings.LIMITS)
    return Facts(
        findings=rules.lint(skill, bundle, authoring=False, limits=settings.LIMITS),
        tokens={path: token_estimate.estimate(text) for path, text in texts.items()},
        unread=tuple(path for path in bundle if path not in texts),
        catalog_tokens=_catalog_tokens(key.name, skill.description),
    )


def _catalog_tokens(name: str, description: str) -> int:
    """Return the tokens of the skill's line in the catalog."""
    catalog = prompt.fit([CatalogLine(name, description)], budget=None, form="text", limits=settings.LIMITS)
    return token_estimate.estimate(prompt.as_text(catalog).split("\n")[1])


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two skills: paths of changed, added and removed files, and numbers of changed lines."""

    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    lines_added: int = 0
    lines_removed: int = 0

    @property
    def files(self) -> int:
        return len(self.changed) + len(self.added) + len(self.removed)


@dataclass(frozen=True, slots=True)
class _DifferenceKey:
    before: str
    after: str
    loaded: tuple[Loaded, Loaded] = field(compare=False)


def difference(before: Loaded, after: Loaded) -> Difference:
    return _difference(_DifferenceKey(before.candidate.digest, after.candidate.digest, (before, after)))


@lru_cache(maxsize=512)
def _difference(key: _DifferenceKey) -> Difference:
    old, new = ({entry.path: entry for entry in loaded.files} for loaded in key.loaded)
    changed = tuple(path for path in new if path in old and new[path].digest != old[path].digest)
    lines_added = lines_removed = 0
    effort, chars = Effort(), diff.COMPARED_BYTES
    for path in changed:
        before, after = (_text(loaded, loaded.entry(path)) for loaded in key.loaded)
        if before is None or after is None or (chars := chars - len(before) - len(after)) < 0:
            continue
        lines = diff.LineDiff(before, after, effort)
        lines_added += lines.added
        lines_removed += lines.removed
    return Difference(
        changed,
        tuple(path for path in new if path not in old),
        tuple(path for path in old if path not in new),
        lines_added,
        lines_removed,
    )


def _text(loaded: Loaded, entry: FileEntry) -> str | None:
    """Return the text of a file, or None if it is very large or not UTF-8."""
    if entry.size > settings.LIMITS.skill_md_bytes:
        return None
    try:
        return loaded.read(entry).decode()
    except UnicodeDecodeError:
        return None
