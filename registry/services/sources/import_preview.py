"""Preview of an import: a fetched skill compared with the project's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from django.conf import settings

from registry.core import paths, roles
from registry.core.bundle import SKILL_MD, Bundle, normalise
from registry.core.catalog import precedence
from registry.core.catalog.precedence import EffectiveSkill, Hidden
from registry.core.errors import InvalidSkill
from registry.core.format import skill_md
from registry.core.text import merge_bundles
from registry.core.text.merge_bundles import BundleMerge
from registry.models import Installation, Project, Skill, Source
from registry.services.catalog import catalog
from registry.services.catalog.catalog import Loaded
from registry.services.files import blobs
from registry.services.permissions import Actor, require, require_reach
from registry.services.resolve import gate
from registry.services.skills import bundles
from registry.services.skills.bundles import Checked
from registry.services.sources import source_entries
from registry.services.sources.source_entries import FetchedSkill

CREATE, TAKEN, SAME, UPDATE, MERGE = "create", "taken", "same", "update", "merge"


@dataclass(frozen=True)
class ImportPreview:
    """Comparison of a fetched skill with the project.

    `fetched` is the skill as the source has it; `theirs` is what the import would store, under the name `target`.
    `installed` is set if the project already has this skill from this source.
    """

    project: Project
    source: Source
    fetched: FetchedSkill
    checked: Checked
    installed: Installation | None
    standing: EffectiveSkill | None
    mine: Loaded | None

    @property
    def name(self) -> str:
        return self.fetched.entry.name

    @property
    def target(self) -> str:
        return self.checked.name

    @property
    def theirs(self) -> Bundle:
        return self.checked.bundle

    @property
    def digest(self) -> str:
        """Return the value for `ImportRequest.digest`."""
        return self.fetched.bundle.digest

    @property
    def seen(self) -> str:
        """Return the value for `ImportRequest.seen`: the digest of the project's own skill, or an empty string."""
        return self.mine.candidate.digest if self.mine else ""

    @property
    def action(self) -> str:
        """Return the effect of an import: CREATE, UPDATE, MERGE, SAME or TAKEN.

        TAKEN means that another skill has the name, MERGE that the installed skill was edited.
        """
        if self.installed is None:
            return TAKEN if self.taken else CREATE
        if self.theirs.digest in (self.installed.base.digest, self.seen):
            return SAME
        return MERGE if self.installed.edited else UPDATE

    @property
    def taken(self) -> bool:
        """Return whether another skill has the name, or the project withdrew all versions of one."""
        if self.installed is not None or self.standing is None:
            return False
        return self.standing.winner is not None or Skill.objects.filter(
            project=self.project, name=self.target, overrides=True
        ).exists()  # fmt: skip

    @property
    def hides(self) -> tuple[Hidden, ...]:
        return precedence.would_hide(self.standing)

    @property
    def before(self) -> Mapping[str, bytes]:
        """Return the files of the current skill with this name."""
        return self.mine.bundle() if self.mine else {}

    @cached_property
    def base(self) -> Mapping[str, bytes]:
        """Return the files of the last import, the base of a merge."""
        return blobs.bundle(self.installed.base.manifest) if self.installed else {}

    @cached_property
    def joined(self) -> BundleMerge:
        return merge_bundles.merge(self.base, self.theirs, self.before)


def load(
    project: Project, source_id: int, name: str, *, new_name: str = "", again: bool = False, by: Actor
) -> ImportPreview:
    """Return the preview of one skill. The skill is fetched and staged; nothing else is stored.

    `again` fetches it once more even if the newest content is already staged.
    """
    require(by, roles.WRITE, project)
    source = source_entries.find(project, source_id, by=by)
    require_reach(by, new_name or name)
    entry = source_entries.entry(source, name)
    fetched = None if again else source_entries.staged(entry)
    if fetched is None:
        with gate.shared_thread():
            fetched = source_entries.fetch(source, entry)
    preview = compare(source, fetched, new_name=new_name)
    require_reach(by, preview.target, shown=new_name or name)
    return preview


def compare(source: Source, fetched: FetchedSkill, *, new_name: str = "") -> ImportPreview:
    """Compare a fetched skill with the project. The rules for imported skills apply."""
    name = fetched.entry.name
    installed = Installation.objects.standing().filter(source=source, name=name).first()
    checked = bundles.check(fetched.bundle, authoring=False, directory=name, project=source.project)
    target = installed.skill.name if installed else normalise(new_name)
    if target and target != checked.name:
        checked = _rename(checked, target, source.project)
    standing = catalog.find(source.project_id, checked.name)
    mine = catalog.inspect(source.project, checked.name)[1] if standing and standing.winner else None
    return ImportPreview(source.project, source, fetched, checked, installed, standing, mine)


def _rename(checked: Checked, name: str, project: Project) -> Checked:
    """Change the name in SKILL.md and leave every other byte as it is."""
    paths.check_component(name, what="name")
    text = skill_md.revise(checked.parsed, name=name, limits=settings.LIMITS)
    bundle = checked.bundle.with_changes({SKILL_MD: text.encode()})
    renamed = bundles.check(bundle, authoring=False, directory=name, project=project)
    if renamed.name != name:
        raise InvalidSkill(f"We couldn’t change the name in SKILL.md to {name}. Nothing was saved.")
    return renamed
