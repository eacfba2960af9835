"""Skills that definitions name, resolved on this machine, without a site.

A platform sends definitions with its requests: inline text, or the address of a skill on the web or in S3. The site
resolves them with the same code behind `/resolve`.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from registry.client import directories, local_skill
from registry.client.errors import LocalProblem, Misconfigured, NotFound, Untrustworthy
from registry.client.values import (
    Catalog,
    CatalogLine,
    EffectiveList,
    EffectiveSkill,
    File,
    Instructions,
    Routed,
    Skill,
    Text,
)
from registry.core.bundle import Bundle, normalise
from registry.core.catalog import prompt, token_estimate
from registry.core.errors import InvalidRequest
from registry.remote import cache_listing, resolver, s3
from registry.remote import directories as skill_directories
from registry.remote.cache import Cache
from registry.remote.reach import Bounds
from registry.remote.resolver import Resolved

SOURCE = "resolved"

_INSTALL_S3 = "Install it with the extra “s3” of the client, or with: pip install boto3"


def resolve(
    payload: object,
    *,
    cache_dir: str | Path | None = None,
    offline: bool = False,
    allow_hosts: Iterable[str] | None = None,
    s3_endpoint_url: str | None = None,
    bounds: Bounds | None = None,
) -> "ResolvedSkills":
    """Resolve definitions: a list, `{"skills": […]}`, or a chat request, in the formats of `/resolve`.

    Skills are cached in `cache_dir` (default: see `directories.cache_root`). With `offline`, nothing is fetched. Hosts
    in `allow_hosts` may be in a private network or without TLS; the default is SKILLS_FETCH_ALLOW_HOSTS. A definition
    that fails is skipped, with a reason, and does not stop the others. Raise Misconfigured if there is no list.
    """
    root = directories.cache_root(cache_dir)
    hosts = os.environ.get("SKILLS_FETCH_ALLOW_HOSTS", "").split(",") if allow_hosts is None else allow_hosts
    endpoint = os.environ.get("S3_ENDPOINT_URL", "") if s3_endpoint_url is None else s3_endpoint_url
    try:
        entries = resolver.resolve(
            payload,
            root=root,
            allowed=frozenset(host.strip().lower() for host in hosts if host.strip()),
            storage=s3.Storage(endpoint_url=endpoint, install=_INSTALL_S3),
            bounds=bounds,
            online=not offline,
        )
    except InvalidRequest as error:
        raise Misconfigured(error.message) from error
    return ResolvedSkills(entries)


def resolved(*, cache_dir: str | Path | None = None) -> "ResolvedSkills":
    """Return every skill in the cache of this machine. Nothing is fetched."""
    found = cache_listing.cached_skills(Cache(directories.cache_root(cache_dir), lenient=True))
    return ResolvedSkills(
        Resolved(
            one.name, one.version, "cached", directory=one.directory, digest=one.digest, description=one.description,
            tokens=one.tokens, files=one.files, origin=one.origin,
        )
        for one in found
    )  # fmt: skip


class ResolvedSkills:
    """Resolved skills. `entries` has a result for each definition, in order; `skipped` those without a skill.

    It has the reading methods of `SkillsiteClient`, so every loader accepts it. If a name has several versions, the
    first one is used, unless you name the version.
    """

    def __init__(self, entries: Iterable[Resolved]) -> None:
        self.entries: tuple[Resolved, ...] = tuple(entries)

    @property
    def skipped(self) -> tuple[Resolved, ...]:
        return tuple(entry for entry in self.entries if entry.status == "skipped")

    @property
    def skills(self) -> tuple[Resolved, ...]:
        """One usable skill for each name, in order."""
        usable: dict[str, Resolved] = {}
        for entry in self.entries:
            if entry.status != "skipped":
                usable.setdefault(entry.name, entry)
        return tuple(usable.values())

    def catalog(self, *, budget: str = "") -> Catalog:
        """Return L1: the names and descriptions."""
        fitted = self._fit(budget, "json")
        lines = tuple(CatalogLine(line.name, line.description) for line in fitted.lines)
        return Catalog(lines, fitted.omitted, prompt.cost(fitted, "json", "tokens"), "", False)

    def catalog_text(
        self,
        *,
        budget: str = "",
        format: Literal["text", "xml"] = "text",  # noqa: A002 - the name of the parameter of the API
    ) -> Text:
        """Return L1 as text for a prompt."""
        fitted = self._fit(budget, format)
        return Text(prompt.as_xml(fitted) if format == "xml" else prompt.as_text(fitted), False)

    def _fit(self, budget: str, form: prompt.Form) -> prompt.Catalog:
        lines = [prompt.CatalogLine(entry.name, entry.description) for entry in self.skills]
        try:
            return prompt.fit(lines, budget=prompt.parse_budget(budget) if budget else None, form=form)
        except InvalidRequest as error:
            raise Misconfigured(error.message) from error

    def instructions(
        self, agent: str = "", *, catalog: Literal["text", "xml", "none"] = "text", budget: str = ""
    ) -> Instructions:
        """Return the catalog. Resolved skills belong to no agent, so there are no other instructions."""
        text = "" if catalog == "none" else self.catalog_text(budget=budget, format=catalog).text
        return Instructions(agent, text, token_estimate.estimate(text), (), False)

    def route(
        self, question: str, *, limit: int | None = None, kind: str = "", threshold: float | None = None
    ) -> Routed:
        raise Misconfigured("Resolved skills are not on a site, and only a site can find the skill for a question.")

    def effective(self) -> EffectiveList:
        return EffectiveList(tuple(map(_effective, self.skills)), False)

    def read(self, name: str, version: str | None = None) -> Skill:
        """Return L2: the instructions, and the list of files."""
        entry = self._entry(name, version)
        return local_skill.skill(_effective(entry), _bundle(entry))

    def file(self, name: str, path: str, version: str | None = None) -> File:
        """Return L3: a file, after checking the digest of its skill."""
        entry = self._entry(name, version)
        bundle = _bundle(entry)
        if path not in bundle:
            raise NotFound(f"{entry.name} has no file {path!r}.", status=404, code="not-found")
        return File(entry.name, entry.version, entry.digest, path, bundle[path], False)

    def bundle(self, name: str, version: str | None = None) -> Bundle:
        return _bundle(self._entry(name, version))

    def directory(self, name: str, version: str | None = None) -> Path:
        """Return the skill as a local directory, for frameworks that read files. Do not write to it."""
        return _directory(self._entry(name, version))

    def cached(self, skill: EffectiveSkill) -> Bundle | None:
        return self.fetch(skill)

    def fetch(self, skill: EffectiveSkill) -> Bundle:
        return self.bundle(skill.name, skill.version)

    def fetch_directory(self, skill: EffectiveSkill) -> Path:
        return self.directory(skill.name, skill.version)

    def _entry(self, name: str, version: str | None) -> Resolved:
        usable: Sequence[Resolved] = [entry for entry in self.entries if entry.status != "skipped"]
        for wanted in (name, normalise(name)):
            for entry in usable:
                if entry.name == wanted and version in (None, entry.version):
                    return entry
        skipped = next((entry.reason for entry in self.skipped if entry.name == name), "")
        raise NotFound(f"There is no resolved skill {name!r}. {skipped}".strip(), status=404, code="not-found")


def _effective(entry: Resolved) -> EffectiveSkill:
    return EffectiveSkill(entry.name, SOURCE, entry.version, entry.digest)


def _directory(entry: Resolved) -> Path:
    if entry.directory is None:
        raise LocalProblem(f"{entry.name} was skipped: {entry.reason}")
    return entry.directory


def _bundle(entry: Resolved) -> Bundle:
    """Return the files of a skill. Raise Untrustworthy if they were changed since it was resolved."""
    try:
        tree = skill_directories.read(_directory(entry), keep=None)
    except OSError as error:
        raise LocalProblem(f"Could not read {entry.name}: {error.strerror or error}.") from error
    if tree is None or tree.digest != entry.digest:
        raise Untrustworthy(f"The cached copy of {entry.name} was changed or removed. Resolve it again.")
    return Bundle(tree.kept)
