"""A source that is a git repository: one commit of it, without history, read by `git archive`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import httpx

from registry.core import paths
from registry.core.archive import zip_bundle
from registry.core.bundle import Bundle
from registry.core.errors import NotFound, SkillsiteError
from registry.remote.outbound_http import Failure
from registry.remote.sources import git_tree
from registry.remote.sources.address_rules import COMMIT, ref_fault
from registry.remote.sources.git_process import GitFailed, Repository, repository
from registry.remote.sources.git_tree import Directory
from registry.remote.sources.http import REDIRECTING, HttpSession, check_status
from registry.remote.sources.listing import ListingBuilder, where
from registry.remote.sources.types import (
    MOST_SKILLS,
    FetchedBundle,
    Listing,
    ListingEntry,
    NotASource,
    RemoteSource,
    Unreachable,
)

MOST_FILES = 100_000

_LOOK_BYTES = 64 * 1024
_ADVERTISEMENT = "application/x-git-upload-pack-advertisement"
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_NO_SUCH = re.compile(r"couldn't find remote ref|not our ref|unadvertised object|no such remote ref", re.IGNORECASE)
_NETWORK = re.compile(
    r"could ?n.t (resolve|connect)|failed to connect|timed? ?out|connection (refused|reset)|ssl|tls|certificate"
    r"|hung up|early eof|recv failure|empty reply|transfer closed|rpc failed|unexpected disconnect",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Commit:
    repository: Repository
    id: str
    skills: dict[str, Directory]


def listing(source: RemoteSource, session: HttpSession) -> Listing:
    builder = ListingBuilder(session.limits)
    with repository(session) as git:
        commit = _commit(source, git, session)
        if commit is None:
            return builder.listing()
        usable: list[Directory] = []
        for skill in commit.skills.values():
            if fault := _fault(skill, session):
                builder.problem(f"{where(skill.path)}: {fault}")
            else:
                usable.append(skill)
        builder.full = len(usable) > MOST_SKILLS
        contents = _contents(git, usable[:MOST_SKILLS])
        for skill, content in zip(usable, contents, strict=False):
            fallback = (skill.path or source.address.rstrip("/").removesuffix(".git")).rpartition("/")[2]
            builder.add_skill(content, fallback=fallback, digest=_digest(skill), location=skill.path)
        return builder.listing(pin=commit.id)


def fetch_all(
    source: RemoteSource, entries: Sequence[ListingEntry], session: HttpSession, pin: str
) -> Iterator[tuple[ListingEntry, FetchedBundle | Exception]]:
    """All of them out of one commit: that of the pin, or the newest."""
    try:
        with repository(session) as git:
            commit = _commit(source, git, session, pin)
            for entry in entries:
                yield entry, _one(commit, entry, session)
    except Failure as error:
        yield from ((entry, error) for entry in entries)


def _one(commit: _Commit | None, entry: ListingEntry, session: HttpSession) -> FetchedBundle | Exception:
    try:
        skill = commit.skills.get(entry.location) if commit else None
        if commit is None or skill is None:
            raise NotFound(f"The repository does not hold {entry.name} at this commit.")
        if fault := _fault(skill, session):
            raise NotASource(f"{where(skill.path)}: {fault}")
        commit.repository.renew()
        return FetchedBundle(_bundle(commit.repository, skill, session), "", _digest(skill))
    except (Failure, SkillsiteError) as error:
        return error


def _bundle(git: Repository, skill: Directory, session: HttpSession) -> Bundle:
    try:
        data = git.run("archive", "--format=zip", "-0", skill.id)
    except GitFailed as error:
        raise NotASource(f"{where(skill.path)}: Git could not read all of its files.") from error
    found = zip_bundle.read_zip(data, limits=session.limits)
    for path, content in found.items():
        if content.startswith(_LFS_POINTER):
            raise NotASource(f"{paths.display(path)} is kept in Git LFS, which is not read here.")
    return found


def _fault(skill: Directory, session: HttpSession) -> str:
    try:
        if skill.path:
            paths.check(skill.path, limits=session.limits)
    except SkillsiteError as error:
        return error.message
    return skill.fault(session.limits)


def _commit(source: RemoteSource, git: Repository, session: HttpSession, pin: str = "") -> _Commit | None:
    """The wanted commit, fetched and listed; none where the repository is empty."""
    wanted = pin or source.ref or "HEAD"
    if fault := ref_fault(wanted) or (pin and not COMMIT.fullmatch(pin) and "The pin is no commit."):
        raise NotASource(fault)
    _look(source, session)
    try:
        git.fetch(source.address, wanted)
    except GitFailed as error:
        if wanted == "HEAD" and _NO_SUCH.search(str(error)) and _is_empty(source, git):
            return None
        raise _failure(str(error), wanted) from error
    try:
        identity, top = git.run("rev-parse", "FETCH_HEAD^{commit}", "FETCH_HEAD^{tree}").decode().split()
        listed = git.run("ls-tree", "-r", "-t", "-z", "-l", "--full-tree", identity)
    except GitFailed as error:
        raise NotASource(f"{wanted} is not a commit whose files git can list.") from error
    if listed.count(b"\0") > MOST_FILES:
        raise NotASource(f"The repository has more than the {MOST_FILES:,} files and directories that are allowed.")
    return _Commit(git, identity, git_tree.directories(git_tree.parse(listed), top))


def _look(source: RemoteSource, session: HttpSession) -> None:
    """Asks what git will ask first, since git takes any page for a repository of the oldest kind, and an empty one."""
    url = httpx.URL(source.address)
    asked = url.copy_with(path=f"{url.path.rstrip('/')}/info/refs", params={"service": "git-upload-pack"})
    answer = session.ask(asked, most=_LOOK_BYTES, headers={"Git-Protocol": "version=2", "User-Agent": "git/skillsite"})
    if answer.status in REDIRECTING:
        raise NotASource("The address redirects, which is not followed for git. Use the address that it leads to.")
    if answer.status in (401, 403, 404, 410):
        raise NotASource("There is no repository at this address that can be read without signing in.")
    check_status(answer)
    if answer.headers.get("content-type", "").partition(";")[0].strip().lower() != _ADVERTISEMENT:
        raise NotASource("What answers at this address is not a git repository.")


def _is_empty(source: RemoteSource, git: Repository) -> bool:
    try:
        return not git.remote_refs(source.address).strip()
    except GitFailed:
        return False


def _contents(git: Repository, skills: Sequence[Directory]) -> Iterator[bytes]:
    """SKILL.md of each, in order, from one run of git."""
    try:
        said = git.run("cat-file", "--batch", stdin="".join(f"{skill.skill_md.id}\n" for skill in skills).encode())
    except GitFailed as error:
        raise NotASource("Git could not read the files of the repository.") from error
    position = 0
    for _ in skills:
        start = said.index(b"\n", position) + 1
        size = int(said[position:start].split()[-1])
        yield said[start : start + size]
        position = start + size + 1


def _failure(said: str, wanted: str) -> Failure:
    """A sentence for what git said. Its own words stay out: they hold the address, and what the other side chose."""
    if _NO_SUCH.search(said) and wanted == "HEAD":
        return NotASource("The repository has no default branch. Name a branch, a tag or a commit.")
    if _NO_SUCH.search(said):
        return NotASource(f"The repository has no branch, tag or commit {wanted}.")
    if _NETWORK.search(said):
        return Unreachable("The connection failed or broke off while git was fetching.")
    return NotASource("Git could not fetch from the repository.")


def _digest(skill: Directory) -> str:
    return f"tree:{skill.id}"
