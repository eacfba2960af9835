"""What the pages about one skill share: which bytes are looked at, the tabs, the facts beside the text."""

import json
import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.urls import reverse

from registry.core import content_types, paths, roles
from registry.core.bundle import SKILL_MD, normalise
from registry.core.catalog.precedence import PROJECT, Candidate, EffectiveSkill
from registry.core.errors import NotFound
from registry.core.findings import Finding, Severity
from registry.models import Provenance, Version
from registry.services.catalog import built_in, catalog, skill_facts, usage
from registry.services.catalog.catalog import Loaded
from registry.services.catalog.skill_facts import Difference, Facts
from registry.services.proposals import review_queue
from registry.services.skills import customisation, versions
from registry.services.skills.customisation import Origin
from registry.services.sources import source_queries
from registry.services.sources.source_queries import Lineage
from registry.web.access import ProjectRequest
from registry.web.humanize import counted
from registry.web.navigation import may, may_publish, may_withdraw

DAYS = 30

_TABS = (
    ("", "Instructions"),
    ("source", "As the agent sees it"),
    ("files", "Files"),
    ("versions", "Versions"),
    ("usage", "Usage"),
    ("proposals", "Proposals"),
)


_WHOLE = ("versions", "usage", "proposals")  # about the skill, whichever version is looked at


@dataclass(frozen=True)
class Hides:
    """A bundled skill that no agent gets, and its files that none can read either."""

    candidate: Candidate
    reason: str
    missing: tuple[str, ...]
    compare: bool


class SkillPage:
    """One skill as one page shows it: what agents get, or the older version that was asked for.

    `loaded` is None where there is nothing to read: the skill was deleted, or each of its versions withdrawn.
    """

    def __init__(self, request: ProjectRequest, name: str, version: str | None = None) -> None:
        self.request = request
        self.project = request.project
        self.name = normalise(name)
        self.asked = version
        self.outcome: EffectiveSkill | None = catalog.find(self.project.pk, self.name)
        self.row = self._row()
        self.loaded = self._load()
        self.count = Version.objects.filter(skill__project=self.project, skill__name=self.name).count()
        if self.outcome is None and not self.count:
            raise NotFound(f"There is no skill {paths.display(self.name)} in this project.")

    def _row(self) -> Version | None:
        if self.asked is not None:
            return versions.get(self.project, self.name, self.asked)
        winner = self.outcome.winner if self.outcome else None
        if winner is None or winner.source != PROJECT:
            return None
        return versions.get(self.project, self.name, winner.version)

    def _load(self) -> Loaded | None:
        if self.row is not None:
            return catalog.stored(self.name, self.row)
        if self.outcome is None or self.outcome.winner is None:
            return None
        return catalog.built_in_skill(self.name)

    @property
    def there(self) -> Loaded:
        if self.loaded is None:
            raise NotFound(f"No agent gets {self.name}, and there is nothing to show: {self.why_nothing}")
        return self.loaded

    @property
    def why_nothing(self) -> str:
        return "it was deleted." if self.outcome is None else "each of its versions was withdrawn."

    @property
    def own(self) -> bool:
        """The project has a skill of its own under the name, readable or not."""
        return self.outcome is not None and self.outcome.from_project

    @property
    def old(self) -> bool:
        """An older version is looked at, not what agents get."""
        if self.asked is None or self.outcome is None or not self.own:
            return self.asked is not None
        return self.outcome.winner is None or self.outcome.winner.version != self.asked

    # -- Addresses --------------------------------------------------------------------------------------------

    def address(self, part: str = "", *more: str) -> str:
        """The address of a part of this skill, or of the older version that is looked at."""
        if self.asked is None or part in _WHOLE:
            return reverse(f"skill-{part}" if part else "skill", args=[self.project.slug, self.name, *more])
        kind = f"version-{part}" if part else "version"
        return reverse(kind, args=[self.project.slug, self.name, self.asked, *more])

    def link(self, path: str) -> str | None:
        return self.address("file-page", path) if path in self._paths else None

    def image(self, path: str) -> str | None:
        return self.address("file", path) if path in self._paths and content_types.is_image(path) else None

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(entry.path for entry in self.loaded.files) if self.loaded else frozenset()

    def tabs(self, current: str) -> list[dict[str, Any]]:
        waiting = review_queue.waiting_by_skill(self.project, [self.name], by=self.request.actor)
        counts = {
            "files": len(self.loaded.files) if self.loaded else 0,
            "versions": self.count,
            "proposals": waiting.get(self.name),
        }
        shown = [(part, label) for part, label in _TABS if self.loaded or part in ("", *_WHOLE)]
        return [
            {"label": label, "url": self.address(part), "current": part == current, "count": counts.get(part)}
            for part, label in shown
            if part != "versions" or self.count
        ]

    # -- Facts ------------------------------------------------------------------------------------------------

    @cached_property
    def facts(self) -> Facts | None:
        return skill_facts.facts(self.loaded, known_names=self._known_names) if self.loaded else None

    @property
    def scan(self) -> tuple[str, str]:
        """What was found, and how much was read, in words; never that a skill is safe."""
        if self.facts is None:
            return "", ""
        return findings_in_words(self.facts.findings), read_in_words(self.facts)

    @cached_property
    def origin(self) -> Origin | None:
        return customisation.find(self.project, self.name) if self.own and self.asked is None else None

    @cached_property
    def lineage(self) -> Lineage | None:
        """The source that the skill came from, where it stands for it still."""
        return source_queries.lineage(self.project, self.name) if self.own else None

    @cached_property
    def came(self) -> Provenance | None:
        """What came from a source last; of an older version, or once the source is removed, what came with that one."""
        if self.asked is None and self.lineage:
            return self.lineage.installed.base
        return source_queries.origins([self.row]).get(self.row.pk) if self.row else None

    @cached_property
    def hides(self) -> tuple[Hides, ...]:
        """Where the project's own skill wins it hides every bundled one; among those the first hides the others."""
        if self.outcome is None:
            return ()
        found = built_in.snapshot().skills.get(self.name, ())
        hidden = self.outcome.hides
        pairs = zip(hidden, found[len(found) - len(hidden) :], strict=False)
        return tuple(
            Hides(
                one.candidate,
                one.reason,
                tuple(entry.path for entry in skill.files if self.loaded and entry.path not in self._paths),
                self.own and place == 0,
            )
            for place, (one, skill) in enumerate(pairs)
        )

    @cached_property
    def difference(self) -> Difference | None:
        """From the bundled skill that is hidden to what agents get instead."""
        bundled = catalog.built_in_skill(self.name)
        if not self.own or bundled is None or self.loaded is None or self.old:
            return None
        return skill_facts.difference(bundled, self.loaded)

    @cached_property
    def requires(self) -> list[tuple[str, bool]]:
        """Each required name, and whether the project has such a skill."""
        if self.loaded is None:
            return []
        return [(name, name in self._known_names) for name in self.loaded.candidate.requires]

    @cached_property
    def _known_names(self) -> frozenset[str]:
        return frozenset(each.name for each in catalog.view(self.project.pk, self.project.revision).skills)

    @cached_property
    def use(self) -> usage.Use:
        return usage.of_skill(self.project.pk, self.name, days=DAYS)

    @property
    def loads(self) -> list[int]:
        return [loads for _, loads in self.use.days]

    @property
    def cost(self) -> int:
        """All three levels together: the length that the bars of the ladder are measured against."""
        if self.loaded is None or self.facts is None:
            return 0
        return self.facts.catalog_tokens + self.loaded.candidate.tokens + self.facts.resource_tokens

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.loaded.files) if self.loaded else 0

    @property
    def calls(self) -> dict[str, str]:
        """Lines to copy: how an agent, and a person at a shell, get what this page shows."""
        base = f"{settings.PUBLIC_URL}/api/v1/projects/{self.project.slug}/skills/{quote(self.name, safe='')}"
        query = f"?version={quote(self.asked, safe='')}" if self.asked else ""
        curl = 'curl -H "Authorization: Bearer $TOKEN" '
        others = [path for path in sorted(self._paths) if path != SKILL_MD]
        return {
            "tool": f"read_skill({json.dumps(self.name, ensure_ascii=False)})",
            "instructions": curl + shlex.quote(base + query),
            "file": curl + shlex.quote(f"{base}/files/{quote(others[0])}{query}") if others else "",
            "zip": f"{curl}-o {shlex.quote(self.name + '.zip')} {shlex.quote(f'{base}/bundle.zip{query}')}",
        }

    def context(self, tab: str, **more: Any) -> dict[str, Any]:
        return {
            "page": self, "tabs": self.tabs(tab), "may_write": may_publish(self.request),
            "may_withdraw": may_withdraw(self.request), "may_propose": may(self.request, roles.PROPOSE),
            "may_source": may(self.request, roles.WRITE), **more,
        }  # fmt: skip


def findings_in_words(findings: tuple[Finding, ...]) -> str:
    nouns = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "hint"}
    counts = [(sum(one.severity is severity for one in findings), noun) for severity, noun in nouns.items()]
    return ", ".join(counted(amount, noun) for amount, noun in counts if amount) or "No findings"


def read_in_words(facts: Facts) -> str:
    if not facts.unread:
        return "its only file read" if facts.files == 1 else f"all {facts.files} files read"
    return f"{len(facts.tokens)} of {facts.files} files read, the others are binary or too large"
