"""The site as an agent's program sees it: catalog, skills, files, bundles, proposals."""

import json
import threading
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import httpx

from registry.client import directories, local_skill, values
from registry.client.bundle_cache import Copies
from registry.client.errors import LocalProblem, Misconfigured, NotCached, NotFound, Unreachable, Untrustworthy
from registry.client.http import Stats, Wire
from registry.client.http_cache import Answers, Kept
from registry.client.retry import Retrying
from registry.client.values import Catalog, Effective, EffectiveSkills, File, Proposal, Skill, Text
from registry.core.archive import zip_bundle as archives
from registry.core.bundle import Bundle, bundle_digest, content_digest, normalise
from registry.core.errors import SkillsiteError
from registry.core.limits import DEFAULT, MIB, Limits

_T = TypeVar("_T")

_JSON, _ANY, _ZIP = "application/json", "*/*", "application/zip"
_JSON_BYTES = 64 * MIB
_MOST_PAGES = 1_000
# The site writes zips without deflating, so that one may be as large as what it opens to.
LIMITS = replace(DEFAULT, archive_bytes=DEFAULT.expanded_bytes + 16 * MIB)


class SkillsiteClient:
    """One project of one site, for one token. May be used by several threads; close it, or use it in a `with`.

    Answers are kept below `cache_dir` (see `places.cache_root`). With `offline` the site is never asked. Without, an
    answer from the cache stands in when the site cannot be reached, and says so in `from_cache`.
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
    ) -> None:
        if not project or not project.strip("/"):
            raise Misconfigured("The project is not named. Give the short name that stands in its address.")
        self._wire = Wire(
            base_url, token, timeout=timeout, retrying=retrying or Retrying(), transport=transport, ca_file=ca_file
        )
        self.project = project
        self.offline = offline
        self._limits = limits
        self._base = f"/api/v1/projects/{quote(project, safe='')}"
        root = directories.cache_root(cache_dir)
        self._answers = Answers(root, origin=self.source, token=token)
        self._copies = Copies(root, origin=self.source)
        self._manifests: dict[tuple[str, str], Skill] = {}
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return self._wire.base_url

    @property
    def source(self) -> str:
        """The address of the project, without anything secret."""
        return f"{self._wire.base_url}/projects/{self.project}"

    @property
    def stats(self) -> Stats:
        return self._wire.stats

    def close(self) -> None:
        self._wire.close()

    def __enter__(self) -> "SkillsiteClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def catalog(self, *, q: str = "", tag: str = "", kind: str = "", source: str = "", budget: str = "") -> Catalog:
        """Names and descriptions of the skills there are."""
        query = _query(q=q, tag=tag, kind=kind, source=source, budget=budget, format="json")
        return self._json(f"{self._base}/catalog{query}", values.catalog)

    def catalog_text(
        self,
        *,
        q: str = "",
        tag: str = "",
        kind: str = "",
        source: str = "",
        budget: str = "",
        format: Literal["text", "xml"] = "text",  # noqa: A002 - the name of the parameter of the API
    ) -> Text:
        """The same as one text for a prompt."""
        query = _query(q=q, tag=tag, kind=kind, source=source, budget=budget, format=format)
        return self._read(f"{self._base}/catalog{query}", values.text, accept=_ANY, most=_JSON_BYTES)

    def read(self, name: str, version: str | None = None) -> Skill:
        """The instructions of one skill; `version` asks for an exact one."""

        def checked(said: Any, from_cache: bool) -> Skill:
            skill = values.skill(said, from_cache)
            if bundle_digest(skill.files) != skill.digest:
                raise _wrong(f"The list of files of {skill.name}", skill.digest, bundle_digest(skill.files))
            if skill.name != normalise(name) or version not in (None, skill.version):
                raise Untrustworthy(f"{skill.name} {skill.version} came back, and another skill was asked for.")
            return skill

        try:
            skill = self._json(self._skill(name) + _query(version=version or ""), checked)
        except NotCached:
            skill = self._pulled(name, version)
        with self._lock:
            self._manifests[skill.name, skill.version] = skill
        return skill

    def file(self, name: str, path: str, version: str | None = None) -> File:
        """One file, checked against the list of files of its version.

        Give the version of a skill that was read, and the file is of that version, without asking for the list again.
        """
        with self._lock:
            known = self._manifests.get((normalise(name), version)) if version is not None else None
        skill = known or self.read(name, version)
        entry = skill.entry(path)
        if entry is None:
            raise NotFound(f"{skill.name} has no file {path!r}.", status=404, code="not-found")

        def checked(content: bytes, from_cache: bool) -> File:
            if content_digest(content) != entry.digest:
                raise _wrong(f"{path} of {skill.name}", entry.digest, content_digest(content))
            return File(skill.name, skill.version, skill.digest, path, content, from_cache or skill.from_cache)

        address = f"{self._skill(skill.name)}/files/{quote(path)}{_query(version=skill.version, download='1')}"
        try:
            return self._read(address, checked, accept=_ANY, most=entry.size)
        except NotCached:
            copy = self._copies.get(skill.name, skill.version, skill.digest)
            if copy is None:
                raise
            return checked(copy[path], True)

    def effective(self) -> EffectiveSkills:
        """Every skill an agent of the project gets, with version and digest."""
        found: list[Effective] = []
        from_cache, address = False, f"{self._base}/effective?limit=1000"
        for _ in range(_MOST_PAGES):
            page = self._json(address, values.effective_page)
            found += page.skills
            from_cache |= page.from_cache
            if not page.next:
                return EffectiveSkills(tuple(found), from_cache)
            address = self._own(page.next)
        raise Untrustworthy(f"The list of skills has over {_MOST_PAGES:,} pages.")

    def bundle(self, name: str, version: str | None = None) -> Bundle:
        """The whole skill, every byte checked against its digest."""
        return self.fetch(self._winner(name, version))

    def fetch(self, wanted: Effective) -> Bundle:
        """The bundle of exactly this version and digest, from this machine where a copy of it is there."""
        kept = self._copies.get(wanted.name, wanted.version, wanted.digest)
        if kept is not None:
            return kept
        bundle = self._download(wanted)
        self._copies.try_put(wanted.name, wanted.version, bundle)
        return bundle

    def directory(self, name: str, version: str | None = None) -> Path:
        """The skill as a directory on this machine, for frameworks that read files; it is not to be written to."""
        return self.keep(self._winner(name, version))

    def keep(self, wanted: Effective) -> Path:
        """The directory of exactly this version and digest."""
        try:
            if self._copies.get(wanted.name, wanted.version, wanted.digest) is None:
                return self._copies.put(wanted.name, wanted.version, self._download(wanted))
            return self._copies.path(wanted.name, wanted.version)
        except OSError as error:
            raise LocalProblem(f"{wanted.name} cannot be kept on this machine: {error.strerror or error}.") from error
        except SkillsiteError as error:
            raise LocalProblem(error.message) from error

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
        """Suggests a change for people to decide on. Proposing the same twice joins the first.

        One of `diff`, `skill_md` and `files` says what; in `files` None removes a file.
        """
        body = {
            "skill": skill,
            "kind": kind,
            "diff": diff,
            "skill_md": skill_md,
            "files": {path: _sendable(content) for path, content in files.items()} if files is not None else None,
            "base_digest": base_digest,
            "justification": justification,
            "evidence": list(evidence) or None,
        }
        if self.offline:
            raise NotCached("A proposal needs the site, and this client is offline. Nothing was sent.")
        given = {key: value for key, value in body.items() if value is not None}
        answer = self._wire.post(f"{self._base}/proposals", given, most=_JSON_BYTES)
        return values.proposal(_parsed(answer.body), False)

    def get_proposal(self, number: int | str) -> Proposal:
        return self._json(f"{self._base}/proposals/{quote(str(number), safe='')}", values.proposal)

    def _winner(self, name: str, version: str | None) -> Effective:
        if version is not None:
            skill = self.read(name, version)
            return Effective(skill.name, skill.source, skill.version, skill.digest)
        found = next((one for one in self.effective().skills if one.name == normalise(name)), None)
        if found is None:
            raise NotFound(f"There is no skill {name!r} in this project.", status=404, code="not-found")
        return found

    def _pulled(self, name: str, version: str | None) -> Skill:
        """Offline, a skill of the last list that was never read by itself, but is here as a whole since a pull."""
        listed = [one for one in self.effective().skills if one.name == normalise(name)]
        wanted = next((one for one in listed if version in (None, one.version)), None)
        if wanted and (copy := self._copies.get(wanted.name, wanted.version, wanted.digest)):
            return local_skill.skill(wanted, copy)
        raise NotCached(f"{normalise(name)} was neither read nor pulled before, and this client is offline.")

    def _download(self, wanted: Effective) -> Bundle:
        if self.offline:
            raise NotCached(f"{wanted.name} {wanted.version} is not on this machine, and this client is offline.")
        address = f"{self._skill(wanted.name)}/bundle.zip{_query(version=wanted.version)}"
        answer = self._wire.get(address, accept=_ZIP, most=self._limits.archive_bytes)
        try:
            bundle = archives.read_zip(answer.body, limits=self._limits)
        except SkillsiteError as error:
            raise Untrustworthy(f"The bundle of {wanted.name} cannot be used: {error.message}") from error
        if bundle.digest != wanted.digest:
            raise _wrong(f"The bundle of {wanted.name} {wanted.version}", wanted.digest, bundle.digest)
        return bundle

    def _skill(self, name: str) -> str:
        normalised = normalise(name)
        if not normalised or normalised in (".", ".."):
            raise Misconfigured(f"{name!r} is not the name of a skill.")
        return f"{self._base}/skills/{quote(normalised, safe='')}"

    def _own(self, address: str) -> str:
        """The next page, which is only ever asked for where the first one was."""
        parts = urlsplit(address)
        if not parts.path.endswith(f"{self._base}/effective") or not parts.query:
            raise Untrustworthy("The site names a next page at another address.")
        return f"{self._base}/effective?{parts.query}"

    def _json(self, address: str, use: Callable[[Any, bool], _T]) -> _T:
        return self._read(address, lambda body, cached: use(_parsed(body), cached), accept=_JSON, most=_JSON_BYTES)

    def _read(self, address: str, use: Callable[[bytes, bool], _T], *, accept: str, most: int) -> _T:
        """What `use` makes of the body; it is told whether that is an earlier one. Only what it accepts is kept."""
        question = f"{accept} {address}"
        kept = self._answers.get(question)
        if self.offline:
            if kept is None:
                raise NotCached("This was not read before, and this client is offline.")
            return use(kept.body, True)
        try:
            answer = self._wire.get(address, accept=accept, most=most, etag=kept.etag if kept else "")
        except Unreachable:
            if kept is None:
                raise
            return use(kept.body, True)
        if answer.status != 304:
            value = use(answer.body, False)
            if answer.etag:
                self._answers.put(question, Kept(answer.etag, answer.body))
            return value
        if kept is None:
            raise Untrustworthy("The site says that nothing changed, and was not asked whether.")
        return use(kept.body, False)


def _query(**given: str) -> str:
    chosen = {key: value for key, value in given.items() if value}
    return f"?{urlencode(chosen)}" if chosen else ""


def _sendable(content: bytes | str | None) -> str | dict[str, str] | None:
    return {"base64": b64encode(content).decode()} if isinstance(content, bytes) else content


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise Untrustworthy("The answer of the site is not JSON. Is this the address of a Skillsite?") from error


def _wrong(what: str, promised: str, got: str) -> Untrustworthy:
    return Untrustworthy(f"{what} has the digest {got}, and {promised} was promised. It was not used.")
