"""One skill of a source against what the project has: what importing or updating it would change."""

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
from registry.services.skills import bundles
from registry.services.skills.bundles import Checked
from registry.services.sources import source_entries
from registry.services.sources.source_entries import FetchedSkill

CREATE, TAKEN, SAME, UPDATE, MERGE = "create", "taken", "same", "update", "merge"


@dataclass(frozen=True)
class ImportPreview:
    """`goods` are as the source gave them; `theirs` is what would be stored, under the name `target`.

    `installed` is there where the skill came from this source under this name and still stands.
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
        """What a wish names as the digest it saw."""
        return self.fetched.bundle.digest

    @property
    def seen(self) -> str:
        """What a wish names as the digest of the project's own skill that it saw; empty where nothing stands."""
        return self.mine.candidate.digest if self.mine else ""

    @property
    def action(self) -> str:
        """`create`; `taken` by a skill that did not come from here; `same` as what came last; `update`, or a `merge`
        where the project's copy was edited."""
        if self.installed is None:
            return TAKEN if self.taken else CREATE
        if self.theirs.digest in (self.installed.base.digest, self.seen):
            return SAME
        return MERGE if self.installed.edited else UPDATE

    @property
    def taken(self) -> bool:
        """Agents get something else under the name, or the project withdrew all of it."""
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
        """The files that stand under the name now."""
        return self.mine.bundle() if self.mine else {}

    @cached_property
    def base(self) -> Mapping[str, bytes]:
        """The files as they came last, from which both sides went on."""
        return blobs.bundle(self.installed.base.manifest) if self.installed else {}

    @cached_property
    def joined(self) -> BundleMerge:
        return merge_bundles.merge(self.base, self.theirs, self.before)


def load(
    project: Project, source_id: int, name: str, *, new_name: str = "", again: bool = False, by: Actor
) -> ImportPreview:
    """One skill of a source, fetched and put aside, with what importing it would do. Nothing else is stored.

    `again` asks the source once more, though what it had at the last look is put aside already.
    """
    require(by, roles.WRITE, project)
    source = source_entries.find(project, source_id, by=by)
    entry = source_entries.entry(source, name)
    fetched = None if again else source_entries.staged(entry)
    preview = compare(source, fetched or source_entries.fetch(source, entry), new_name=new_name)
    require_reach(by, preview.target)
    return preview


def compare(source: Source, fetched: FetchedSkill, *, new_name: str = "") -> ImportPreview:
    """How the goods stand to what the project has now. They are held to the rules of imported skills."""
    name = fetched.entry.name
    installed = Installation.objects.standing().filter(source=source, name=name).first()
    checked = bundles.check(fetched.bundle, authoring=False, directory=name)
    wanted = installed.skill.name if installed else normalise(new_name)
    if wanted and wanted != checked.name:
        checked = _renamed(checked, wanted)
    standing = catalog.find(source.project_id, checked.name)
    mine = catalog.inspect(source.project, checked.name)[1] if standing and standing.winner else None
    return ImportPreview(source.project, source, fetched, checked, installed, standing, mine)


def _renamed(checked: Checked, name: str) -> Checked:
    """The same skill under another name: the line of the name changes, and no other byte does."""
    paths.check_component(name, what="name")
    text = skill_md.revise(checked.parsed, name=name, limits=settings.LIMITS)
    renamed = bundles.check(checked.bundle.with_changes({SKILL_MD: text.encode()}), authoring=False, directory=name)
    if renamed.name != name:
        raise InvalidSkill(f"SKILL.md could not be given the name {name}. Nothing was stored.")
    return renamed
