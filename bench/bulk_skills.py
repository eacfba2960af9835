"""Projects with many skills, created in bulk: the first with the real service, the others as copies of its rows.

Each copy has its own files, digest and description. The copies have no audit events: ten thousand transactions would
take minutes, and no result depends on them.
"""

import copy
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import F

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md
from registry.models import Project, Skill, Version
from registry.services import permissions
from registry.services.agents import agents, tokens
from registry.services.people import projects
from registry.services.skills import skills

_STEPS = "\n".join(
    f"{number}. Look at part {number} of the request, note what is missing, and ask for it in one short sentence."
    for number in range(1, 31)
)


def bundle(number: int) -> Bundle:
    """Return a skill with about 3 kB of instructions and two small files."""
    text = skill_md.compose(
        name=f"skill-{number:05}",
        description=f"Answers questions of kind {number} the way the team agreed on. Use when one of them comes in.",
        instructions=f"# Questions of kind {number}\n\n{_STEPS}\n",
        tags=["team", f"group-{number % 20}"],
    )
    return Bundle(
        {SKILL_MD: text.encode(), "references/terms.md": b"# Terms\n", "references/more.md": f"{number}\n".encode()}
    )


def prepare(count: int) -> None:
    """Create the project “demo” with this many skills, and print a token. Runs in a Django shell."""
    by = permissions.operator()
    project = Project.objects.filter(slug="demo").first() or projects.create(slug="demo", name="Demo", by=by)
    fill(project, count)
    agent = agents.ensure(project, "bench", by=by)
    print(tokens.create_token(project, agent=agent, scopes=("read", "write"), by=by))


def write(count: int, directory: str) -> None:
    """Write the same skills as directories. Runs in a Django shell."""
    for number in range(count):
        for path, content in bundle(number).items():
            file = Path(directory, f"skill-{number:05}", path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def fill(project: Project, count: int, make: Callable[[int], Bundle] = bundle) -> None:
    """Add the missing ones of `count` skills."""
    missing = sorted(set(range(count)) - _present(project))
    if not missing:
        return
    first = skills.create(project, make(missing[0]), by=permissions.operator()).version
    with transaction.atomic():
        for start in range(1, len(missing), 500):
            _copy(first, missing[start : start + 500], make)
        Project.objects.filter(pk=project.pk).update(revision=F("revision") + 1)


def _present(project: Project) -> set[int]:
    names = Skill.objects.filter(project=project, name__startswith="skill-").values_list("name", flat=True)
    return {int(name.removeprefix("skill-")) for name in names}


def _copy(first: Version, numbers: Iterable[int], make: Callable[[int], Bundle]) -> None:
    bundles = {f"skill-{number:05}": make(number) for number in numbers}
    rows = [_like(first.skill, name=name, current=None) for name in bundles]
    Skill.objects.bulk_create(rows)
    versions = [_version(first, skill, bundles[skill.name]) for skill in rows]
    Version.objects.bulk_create(versions)
    for skill, version in zip(rows, versions, strict=True):
        skill.current = version
    Skill.objects.bulk_update(rows, ["current"], batch_size=100)


def _version(first: Version, skill: Skill, content: Bundle) -> Version:
    _store(content)
    parsed = skill_md.read(content[SKILL_MD])
    return _like(
        first, skill=skill, digest=content.digest, manifest=content.manifest, size=content.size,
        description=parsed.description, tags=list(parsed.tags),
    )  # fmt: skip


Row = TypeVar("Row", Skill, Version)


def _like(row: Row, **changed: object) -> Row:
    new = copy.copy(row)
    new._state = copy.copy(row._state)
    new._state.fields_cache = {}
    new._state.adding, new.pk = True, None
    for name, value in changed.items():
        setattr(new, name, value)
    return new


def _store(content: Bundle) -> None:
    """Write the files into the blob directory without syncing them, which would take too long."""
    for entry in content.manifest:
        path = Path(settings.SKILLSITE_DATA, "blobs", entry.digest[:2], entry.digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content[entry.path])
