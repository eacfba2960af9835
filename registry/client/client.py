"""The client for one project of a site: catalog, skills, files, bundles and proposals. Runs are in `run_client.py`."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal
from urllib.parse import quote, urlsplit

import httpx

from registry.client import directories, local_skill, proposed_files, questions, values
from registry.client.bundle_cache import BundleCache
from registry.client.cached_reader import ANY, JSON_BYTES, CachedReader, parse_json, query
from registry.client.errors import LocalProblem, Misconfigured, NotCached, NotFound, Untrustworthy
from registry.client.http import HttpClient, Stats
from registry.client.http_cache import HttpCache
from registry.client.retry import Retrying
from registry.client.run_client import RunMethods
from registry.client.values import (
    Catalog,
    EffectiveList,
    EffectiveSkill,
    File,
    Instructions,
    Proposal,
    Routed,
    Skill,
    Text,
)
from registry.core.archive import zip_bundle as archives
from registry.core.bundle import Bundle, bundle_digest, content_digest, normalise
from registry.core.errors import SkillsiteError
from registry.core.limits import DEFAULT, MIB, Limits

_ZIP = "application/zip"
_MOST_PAGES = 1_000
# The site writes zips without compression, so that a zip can be as large as its content.
LIMITS = replace(DEFAULT, archive_bytes=DEFAULT.expanded_bytes + 16 * MIB)


class SkillsiteClient(RunMethods):
    """A client for one project with one token. It is thread-safe. Close it, or use it in a `with` statement.

    Responses are cached in `cache_dir` (default: see `directories.cache_root`). With `offline`, no requests are sent.
    Otherwise a cached response is used if the site cannot be reached. `from_cache` of the result is then true.
    Without `allow_http`, an `http://` address must be on this machine, because everyone on the way reads the token.
    """

    def __init__(
        self,
        base_url: str,
        project: str,
        token: str,
        *,
        cache_dir: str | Path | None = None,
        timeout: float = 20.0,
        offline: bool = False,
        transport: httpx.BaseTransport | None = None,
        retrying: Retrying | None = None,
        limits: Limits = LIMITS,
        ca_file: Path | None = None,
        allow_http: bool = False,
    ) -> None:
        if not project or not project.strip("/"):
            raise Misconfigured("No project is set. Use its short name, which is part of its address.")
        self._http = HttpClient(
            base_url,
            token,
            timeout=timeout,
            retrying=retrying or Retrying(),
            transport=transport,
            ca_file=ca_file,
            allow_http=allow_http,
        )
        self.project = project
        self._limits = limits
        self._base = f"/api/v1/projects/{quote(project, safe='')}"
        root = directories.cache_root(cache_dir)
        self._reader = CachedReader(self._http, HttpCache(root, origin=self.source, token=token), offline=offline)
        self._bundles = BundleCache(root, origin=self.source, limits=limits)
        self._manifests: dict[tuple[str, str], Skill] = {}
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return self._http.base_url

    @property
    def source(self) -> str:
        """The address of the project, without the token."""
        return f"{self._http.base_url}/projects/{self.project}"

    @property
    def offline(self) -> bool:
        return self._reader.offline

    @property
    def stats(self) -> Stats:
        return self._http.stats

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> "SkillsiteClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def catalog(
        self, *, q: str = "", tag: str = "", kind: str = "", source: str = "", budget: str = "", for_prompt: str = ""
    ) -> Catalog:
        """Return the names and descriptions of all skills. Those that fit `for_prompt` are first."""
        more = {"for": for_prompt, "format": "json"}
        filters = query(q=q, tag=tag, kind=kind, source=source, budget=budget, **more)
        return self._reader.json(f"{self._base}/catalog{filters}", values.catalog)

    def catalog_text(
        self,
        *,
        q: str = "",
        tag: str = "",
        kind: str = "",
        source: str = "",
        budget: str = "",
        for_prompt: str = "",
        format: Literal["text", "xml"] = "text",  # noqa: A002 - the name of the parameter of the API
    ) -> Text:
        """Return the catalog as text for a prompt."""
        more = {"for": for_prompt, "format": format}
        filters = query(q=q, tag=tag, kind=kind, source=source, budget=budget, **more)
        return self._reader.read(f"{self._base}/catalog{filters}", values.text, accept=ANY, limit=JSON_BYTES)

    def read(self, name: str, version: str | None = None) -> Skill:
        """Return the instructions of a skill in its current version, or in `version`."""

        def parse(data: Any, from_cache: bool) -> Skill:
            skill = values.skill(data, from_cache)
            if bundle_digest(skill.files) != skill.digest:
                raise _wrong_digest(f"The list of files of {skill.name}", skill.digest, bundle_digest(skill.files))
            if skill.name != normalise(name) or version not in (None, skill.version):
                raise Untrustworthy(f"The site returned another skill: {skill.name} {skill.version}.")
            return skill

        try:
            skill = self._reader.json(self._skill(name) + query(version=version or ""), parse)
        except NotCached:
            skill = self._read_from_bundle(name, version)
        with self._lock:
            self._manifests[skill.name, skill.version] = skill
        return skill

    def file(self, name: str, path: str, version: str | None = None) -> File:
        """Return a file, after checking its digest.

        Pass the version of a skill that you have read to get the file of the same version with a single request.
        """
        with self._lock:
            known = self._manifests.get((normalise(name), version)) if version is not None else None
        skill = known or self.read(name, version)
        entry = skill.entry(path)
        if entry is None:
            raise NotFound(f"{skill.name} has no file {path!r}.", status=404, code="not-found")

        def check(content: bytes, from_cache: bool) -> File:
            if content_digest(content) != entry.digest:
                raise _wrong_digest(f"{path} of {skill.name}", entry.digest, content_digest(content))
            return File(skill.name, skill.version, skill.digest, path, content, from_cache or skill.from_cache)

        address = f"{self._skill(skill.name)}/files/{quote(path)}{query(version=skill.version, download='1')}"
        try:
            return self._reader.read(address, check, accept=ANY, limit=entry.size)
        except NotCached:
            copy = self._bundles.get(skill.name, skill.version, skill.digest)
            if copy is None:
                raise
            return check(copy[path], True)

    def effective(self) -> EffectiveList:
        """Return every skill that agents of the project get, with version and digest."""
        skills: list[EffectiveSkill] = []
        from_cache, address = False, f"{self._base}/effective?limit=1000"
        for _ in range(_MOST_PAGES):
            page = self._reader.json(address, values.effective_page)
            skills += page.skills
            from_cache |= page.from_cache
            if not page.next:
                return EffectiveList(tuple(skills), from_cache)
            address = self._next_page(page.next)
        raise Untrustworthy(f"The list of skills has more than {_MOST_PAGES:,} pages.")

    def bundle(self, name: str, version: str | None = None) -> Bundle:
        """Return the whole skill, after checking its digest."""
        return self.fetch(self._effective_skill(name, version))

    def fetch(self, skill: EffectiveSkill) -> Bundle:
        """Return the bundle with this version and digest, from the cache if possible."""
        cached = self.cached(skill)
        if cached is not None:
            return cached
        bundle = self._download(skill)
        self._bundles.try_put(skill.name, skill.version, bundle)
        return bundle

    def cached(self, skill: EffectiveSkill) -> Bundle | None:
        """Return the bundle from the cache, or None if it is not there."""
        return self._bundles.get(skill.name, skill.version, skill.digest)

    def directory(self, name: str, version: str | None = None) -> Path:
        """Return the skill as a local directory, for frameworks that read files. Do not write to it."""
        return self.fetch_directory(self._effective_skill(name, version))

    def fetch_directory(self, skill: EffectiveSkill) -> Path:
        """Return a local directory with this version and digest."""
        try:
            cached = self._bundles.directory(skill.name, skill.version, skill.digest)
            return cached or self._bundles.put(skill.name, skill.version, self._download(skill))
        except OSError as error:
            raise LocalProblem(f"Could not store {skill.name} on this machine: {error.strerror or error}.") from error
        except SkillsiteError as error:
            raise LocalProblem(error.message) from error

    def instructions(
        self, agent: str = "", *, catalog: Literal["text", "xml", "none"] = "text", budget: str = ""
    ) -> Instructions:
        """Return the instructions of an agent: prompt, skills that it uses, its own instructions, and the catalog.

        Without `agent`, they are those of the agent that the token belongs to. A token of a person has to name one.
        Pass `catalog="none"` for a framework that lists the skills itself.
        """
        if agent in (".", ".."):
            raise Misconfigured(f"{agent!r} is not the name of an agent.")
        whose = f"/agents/{quote(agent, safe='')}" if agent else ""
        options = query(catalog=catalog, budget=budget) if catalog != "none" else ""
        return self._reader.json(f"{self._base}{whose}/instructions{options}", values.instructions)

    def route(
        self, question: str, *, limit: int | None = None, kind: str = "", threshold: float | None = None
    ) -> Routed:
        """Return the skills for a question, best first, or none. With a threshold of 0, return the whole ranking."""
        body = {"query": question, "limit": limit, "kind": kind, "threshold": threshold}
        return questions.ask(self._http, self._base, body, offline=self.offline)

    def propose(
        self,
        skill: str,
        *,
        justification: str,
        kind: Literal["create", "update", "delete"] | None = None,
        diff: str | None = None,
        skill_md: str | None = None,
        files: Mapping[str, bytes | str | None] | None = None,
        base_digest: str | None = None,
        evidence: Sequence[Any] = (),
    ) -> Proposal:
        """Propose a change for people to review. An identical open proposal is returned instead of a new one.

        Pass one of `diff`, `skill_md` and `files`. In `files`, None removes a file.
        """
        body = {
            "skill": skill,
            "kind": kind,
            "diff": diff,
            "skill_md": skill_md,
            "files": proposed_files.as_json(files) if files is not None else None,
            "base_digest": base_digest,
            "justification": justification,
            "evidence": list(evidence) or None,
        }
        if self.offline:
            raise NotCached("The client is offline, so it cannot send a proposal. Nothing was sent.")
        payload = {key: value for key, value in body.items() if value is not None}
        response = self._http.post(f"{self._base}/proposals", payload, limit=JSON_BYTES)
        return values.proposal(parse_json(response.body), False)

    def get_proposal(self, number: int | str) -> Proposal:
        return self._reader.json(f"{self._base}/proposals/{quote(str(number), safe='')}", values.proposal)

    def _effective_skill(self, name: str, version: str | None) -> EffectiveSkill:
        if version is not None:
            skill = self.read(name, version)
            return EffectiveSkill(skill.name, skill.source, skill.version, skill.digest)
        current = next((one for one in self.effective().skills if one.name == normalise(name)), None)
        if current is None:
            raise NotFound(f"There is no skill {name!r} in this project.", status=404, code="not-found")
        return current

    def _read_from_bundle(self, name: str, version: str | None) -> Skill:
        """Return a skill from a cached bundle. Used offline for skills that were pulled but never read."""
        listed = [one for one in self.effective().skills if one.name == normalise(name)]
        skill = next((one for one in listed if version in (None, one.version)), None)
        if skill and (copy := self._bundles.get(skill.name, skill.version, skill.digest)):
            return local_skill.skill(skill, copy)
        raise NotCached(f"The client is offline, and {normalise(name)} is not in the cache.")

    def _download(self, skill: EffectiveSkill) -> Bundle:
        if self.offline:
            raise NotCached(f"The client is offline, and {skill.name} {skill.version} is not in the cache.")
        address = f"{self._skill(skill.name)}/bundle.zip{query(version=skill.version)}"
        response = self._http.get(address, accept=_ZIP, limit=self._limits.archive_bytes)
        try:
            bundle = archives.read_zip(response.body, limits=self._limits)
        except SkillsiteError as error:
            raise Untrustworthy(f"The bundle of {skill.name} is invalid: {error.message}") from error
        if bundle.digest != skill.digest:
            raise _wrong_digest(f"The bundle of {skill.name} {skill.version}", skill.digest, bundle.digest)
        return bundle

    def _skill(self, name: str) -> str:
        normalised = normalise(name)
        if not normalised or normalised in (".", ".."):
            raise Misconfigured(f"{name!r} is not the name of a skill.")
        return f"{self._base}/skills/{quote(normalised, safe='')}"

    def _next_page(self, address: str) -> str:
        """Return the path of the next page. It has to be at the same address as the first."""
        parts = urlsplit(address)
        if not parts.path.endswith(f"{self._base}/effective") or not parts.query:
            raise Untrustworthy("The next page of the list is at an unexpected address.")
        return f"{self._base}/effective?{parts.query}"


def _wrong_digest(what: str, expected: str, actual: str) -> Untrustworthy:
    return Untrustworthy(f"{what} has the digest {actual} instead of {expected}. It was not used.")
