"""Paths and texts of the pages of sources, and changes on both sides."""

import re
from typing import Any

from registry.core.bundle import SKILL_MD
from registry.core.sources.import_request import ImportRequest
from registry.models import Project, Source
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.sources import install, source_jobs, sources
from tests.prepared import save_skill
from tests.services.other_site import Elsewhere

SOURCES = "/projects/demo/sources/"
HOSTILE = '<img src=x onerror="alert(1)">'


def at(source: Source, path: str = "") -> str:
    return f"{SOURCES}{source.pk}/{path}"


def text(answer: Any) -> str:
    said: str = answer.content.decode()
    return said


def shown(answer: Any) -> str:
    """Return the text of a page without its markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", text(answer)).split())


def import_one(project: Project, source: Source, by: Actor, name: str = "greeting", **choices: Any) -> None:
    install.import_skill(project, source.pk, ImportRequest(name, **choices), by=by)


def edit(project: Project, by: Actor, before: str, after: str, name: str = "greeting") -> None:
    mine = catalog.load(project.pk, name)
    written = mine.bundle()[SKILL_MD].decode()
    assert before in written
    changed = mine.bundle().with_changes({SKILL_MD: written.replace(before, after).encode()})
    save_skill(project, name, changed, base=mine.candidate.digest, by=by)


def change(site: Elsewhere, before: str, after: str, name: str = "greeting") -> None:
    written = site.skills[name][SKILL_MD].decode()
    assert before in written
    site.skills[name] = site.skills[name].with_changes({SKILL_MD: written.replace(before, after).encode()})


def look(project: Project, source: Source, by: Actor) -> None:
    sources.look(project, source.pk, by=by)
    source_jobs.run_due()


def served(project: Project, name: str = "greeting") -> str:
    return catalog.load(project.pk, name).bundle()[SKILL_MD].decode()


def sent(answer: Any, **more: str) -> dict[str, str]:
    """Return the fields of the preview form: the digests and the choices."""
    hidden = dict(re.findall(r'<input type="hidden" name="(digest|seen)" value="([^"]*)">', text(answer)))
    return {**hidden, **more}
