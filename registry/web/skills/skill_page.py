"""View model of the pages about one skill."""

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
from registry.core.workflows.plan import FILE as WORKFLOW_YAML
from registry.models import Provenance, Version
from registry.services.capabilities import capability_registry
from registry.services.catalog import built_in, catalog, skill_facts, usage
from registry.services.catalog.catalog import Loaded
from registry.services.catalog.skill_facts import Difference, Facts
from registry.services.catalog.usage import Use
from registry.services.proposals import review_queue
from registry.services.routing import golden_set
from registry.services.scans import scan_queries
from registry.services.scans.scan_queries import ScanDetails
from registry.services.skills import customisation, versions
from registry.services.skills.customisation import Origin
from registry.services.sources import source_queries
from registry.services.sources.source_queries import InstallationStatus
from registry.web.access import ProjectRequest
from registry.web.humanize import counted
from registry.web.navigation import may, may_publish, may_withdraw
from registry.web.skills.scan_words import findings_in_words, scan_in_words

DAYS = 30

_TABS = (
    ("", "Instructions"),
    ("source", "As the agent sees it"),
    ("workflow", "Workflow"),
    ("files", "Files"),
    ("versions", "Versions"),
    ("usage", "Usage"),
    ("proposals", "Proposals"),
)


_WHOLE = ("versions", "usage", "proposals")  # these tabs are about the skill, not about one version


@dataclass(frozen=True)
class HiddenSkill:
    """A built-in skill that this one replaces. Agents cannot read its files in `missing`."""

    candidate: Candidate
    reason: str
    missing: tuple[str, ...]
    compare: bool


class SkillPage:
    """One skill for the templates: what agents get, or the version named in the address.

    `version` is None for what agents get. `loaded` is None if the skill was deleted or all versions were withdrawn.
    """

    def __init__(self, request: ProjectRequest, name: str, version: str | None = None) -> None:
        self.request = request
        self.project = request.project
        self.name = normalise(name)
        self.version = version
        self.effective: EffectiveSkill | None = catalog.find(self.project.pk, self.name)
        self.row = self._row()
        self.loaded = self._load()
        if self.effective is None and not self.version_count:
            raise NotFound(f"There is no skill {paths.display(self.name)} in this project.")

    def _row(self) -> Version | None:
        if self.version is not None:
            return versions.get(self.project, self.name, self.version)
        winner = self.effective.winner if self.effective else None
        if winner is None or winner.source != PROJECT:
            return None
        return versions.get(self.project, self.name, winner.version)

    def _load(self) -> Loaded | None:
        if self.row is not None:
            return catalog.stored(self.name, self.row)
        if self.effective is None or self.effective.winner is None:
            return None
        return catalog.built_in_skill(self.name)

    @cached_property
    def version_count(self) -> int:
        return Version.objects.filter(skill__project=self.project, skill__name=self.name).count()

    @property
    def loaded_or_404(self) -> Loaded:
        if self.loaded is None:
            raise NotFound(f"There is nothing to show for {self.name}: {self.why_nothing}")
        return self.loaded

    @property
    def why_nothing(self) -> str:
        return "it was deleted." if self.effective is None else "agents can’t load any of its versions."

    @cached_property
    def held(self) -> bool:
        """Tell whether a version is in quarantine, where agents get none."""
        rows = Version.objects.filter(skill__project=self.project, skill__name=self.name, yanked_at=None)
        return rows.filter(deleted_at=None, quarantined_at__isnull=False).exists()

    @property
    def own(self) -> bool:
        """Tell whether the project has a skill under this name, even if all its versions were withdrawn."""
        return self.effective is not None and self.effective.from_project

    @property
    def old(self) -> bool:
        """Tell whether the page shows another version than agents get."""
        if self.version is None or self.effective is None or not self.own:
            return self.version is not None
        return self.effective.winner is None or self.effective.winner.version != self.version

    # -- Addresses --------------------------------------------------------------------------------------------

    def address(self, part: str = "", *more: str) -> str:
        """Return the address of a part of this skill, or of the version on this page."""
        if self.version is None or part in _WHOLE:
            return reverse(f"skill-{part}" if part else "skill", args=[self.project.slug, self.name, *more])
        kind = f"version-{part}" if part else "version"
        return reverse(kind, args=[self.project.slug, self.name, self.version, *more])

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
            "versions": self.version_count,
            "proposals": waiting.get(self.name),
        }
        shown = [(part, label) for part, label in _TABS if self.loaded or part in ("", *_WHOLE)]
        return [
            {"label": label, "url": self.address(part), "current": part == current, "count": counts.get(part)}
            for part, label in shown
            if (part != "versions" or self.version_count) and (part != "workflow" or self.has_workflow)
        ]

    # -- Facts ------------------------------------------------------------------------------------------------

    @cached_property
    def facts(self) -> Facts | None:
        if self.loaded is None:
            return None
        known = capability_registry.of(self.project.pk).by_id if WORKFLOW_YAML in self._paths else None
        return skill_facts.facts(self.loaded, known_names=self.known_names, capabilities=known)

    @property
    def scan(self) -> tuple[str, str]:
        """Return the number of findings and of files read as text. It never says that a skill is safe."""
        if self.facts is None:
            return "", ""
        return findings_in_words(self.facts.findings), files_read_in_words(self.facts)

    @cached_property
    def security(self) -> ScanDetails | None:
        """Return the security scan of the version on this page, or None if there is none yet."""
        return scan_queries.details(self.project, self.row.digest) if self.row else None

    @property
    def security_words(self) -> tuple[str, str]:
        return scan_in_words(self.security) if self.security else ("", "")

    @cached_property
    def origin(self) -> Origin | None:
        return customisation.find(self.project, self.name) if self.own and self.version is None else None

    @cached_property
    def installation_status(self) -> InstallationStatus | None:
        """Return the installation of an imported skill."""
        return source_queries.installation_status(self.project, self.name) if self.own else None

    @cached_property
    def provenance(self) -> Provenance | None:
        """Return the last import of the skill; for an older version, or if the source was removed, its own import."""
        if self.version is None and self.installation_status:
            return self.installation_status.installation.base
        return source_queries.provenance_of([self.row]).get(self.row.pk) if self.row else None

    @cached_property
    def hides(self) -> tuple[HiddenSkill, ...]:
        """Return the built-in skills this one replaces: all of them for a project skill, the lower roots otherwise."""
        if self.effective is None:
            return ()
        candidates = built_in.snapshot().skills.get(self.name, ())
        hidden = self.effective.hides
        pairs = zip(hidden, candidates[len(candidates) - len(hidden) :], strict=False)
        return tuple(
            HiddenSkill(
                one.candidate,
                one.reason,
                tuple(entry.path for entry in skill.files if self.loaded and entry.path not in self._paths),
                self.own and place == 0,
            )
            for place, (one, skill) in enumerate(pairs)
        )

    @cached_property
    def difference(self) -> Difference | None:
        """Return the difference between the built-in skill and the project's version."""
        original = catalog.built_in_skill(self.name)
        if not self.own or original is None or self.loaded is None or self.old:
            return None
        return skill_facts.difference(original, self.loaded)

    @property
    def lost_in_words(self) -> str:
        """Return a sentence about what is lost by returning to the built-in skill."""
        lost = self.difference
        if lost is None:
            return ""
        if not lost.files:
            return "Your version is identical, so nothing is lost."
        changed = f" in {counted(len(lost.changed), 'changed file')}" if lost.changed else ""
        added = f", and {counted(len(lost.added), 'file')} that the built-in skill doesn’t have" if lost.added else ""
        return f"Agents no longer get your changes: {counted(lost.lines_added, 'line')}{changed}{added}."

    @cached_property
    def requires(self) -> list[tuple[str, bool]]:
        """Return the required names, each with True if the project has such a skill."""
        if self.loaded is None:
            return []
        return [(name, name in self.known_names) for name in self.loaded.candidate.requires]

    @cached_property
    def known_names(self) -> frozenset[str]:
        return frozenset(each.name for each in catalog.view(self.project.pk, self.project.revision).skills)

    @cached_property
    def usage(self) -> Use:
        return usage.of_skill(self.project.pk, self.name, days=DAYS)

    @property
    def loads(self) -> list[int]:
        return [loads for _, loads in self.usage.days]

    @property
    def asks_about_routing(self) -> bool:
        """Tell whether this person sees the impact of a change on the test questions, and there are any."""
        return may(self.request, roles.WRITE) and golden_set.exists(self.project)

    @property
    def total_tokens(self) -> int:
        """Return the tokens of all three levels, the full length of the bars."""
        if self.loaded is None or self.facts is None:
            return 0
        return self.facts.catalog_tokens + self.loaded.candidate.tokens + self.facts.resource_tokens

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.loaded.files) if self.loaded else 0

    @property
    def commands(self) -> dict[str, str]:
        """Return commands that load this skill, for agents and for a shell."""
        base = f"{settings.PUBLIC_URL}/api/v1/projects/{self.project.slug}/skills/{quote(self.name, safe='')}"
        query = f"?version={quote(self.version, safe='')}" if self.version else ""
        curl = 'curl -H "Authorization: Bearer $TOKEN" '
        others = [path for path in sorted(self._paths) if path != SKILL_MD]
        return {
            "tool": f"read_skill({json.dumps(self.name, ensure_ascii=False)})",
            "instructions": curl + shlex.quote(base + query),
            "file": curl + shlex.quote(f"{base}/files/{quote(others[0])}{query}") if others else "",
            "zip": f"{curl}-o {shlex.quote(self.name + '.zip')} {shlex.quote(f'{base}/bundle.zip{query}')}",
        }

    @property
    def has_workflow(self) -> bool:
        return WORKFLOW_YAML in self._paths

    @property
    def may_run(self) -> bool:
        """Tell whether to show the button that runs the workflow. The page behind it says why it cannot run."""
        enabled = self.effective is not None and self.effective.enabled
        return self.version is None and self.has_workflow and enabled and may(self.request, roles.RUN)

    def context(self, tab: str, **more: Any) -> dict[str, Any]:
        return {
            "page": self, "tabs": self.tabs(tab), "may_write": may_publish(self.request),
            "may_withdraw": may_withdraw(self.request), "may_propose": may(self.request, roles.PROPOSE),
            "may_source": may(self.request, roles.WRITE), "may_quarantine": may(self.request, roles.REVIEW), **more,
        }  # fmt: skip


def files_read_in_words(facts: Facts) -> str:
    if not facts.unread:
        return "1 file scanned" if facts.files == 1 else f"all {facts.files} files scanned"
    return f"{len(facts.tokens)} of {facts.files} files scanned, the others are binary or too large"
