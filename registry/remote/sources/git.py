"""Source that is a git repository: one commit without history, read with `git archive`."""

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

_ADVERTISEMENT_BYTES = 64 * 1024
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
    """Fetch all entries from one commit: `pin`, or the newest."""
    try:
        with repository(session) as git:
            commit = _commit(source, git, session, pin)
            for entry in entries:
                yield entry, _fetch(commit, entry, session)
    except Failure as error:
        yield from ((entry, error) for entry in entries)


def _fetch(commit: _Commit | None, entry: ListingEntry, session: HttpSession) -> FetchedBundle | Exception:
    try:
        skill = commit.skills.get(entry.location) if commit else None
        if commit is None or skill is None:
            raise NotFound(f"The repository does not have {entry.name} at this commit.")
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
        raise NotASource(f"{where(skill.path)}: Git could not read all its files.") from error
    bundle = zip_bundle.read_zip(data, limits=session.limits)
    for path, content in bundle.items():
        if content.startswith(_LFS_POINTER):
            raise NotASource(f"{paths.display(path)} is stored in Git LFS, which is not supported.")
    return bundle


def _fault(skill: Directory, session: HttpSession) -> str:
    try:
        if skill.path:
            paths.check(skill.path, limits=session.limits)
    except SkillsiteError as error:
        return error.message
    return skill.fault(session.limits)


def _commit(source: RemoteSource, git: Repository, session: HttpSession, pin: str = "") -> _Commit | None:
    """Fetch the commit and list its skills. Return None if the repository is empty."""
    ref = pin or source.ref or "HEAD"
    if fault := ref_fault(ref) or (pin and not COMMIT.fullmatch(pin) and "The pin is not a commit id."):
        raise NotASource(fault)
    _check_repository(source, session)
    try:
        git.fetch(source.address, ref)
    except GitFailed as error:
        if ref == "HEAD" and _NO_SUCH.search(str(error)) and _is_empty(source, git):
            return None
        raise _failure(str(error), ref) from error
    try:
        identity, top = git.run("rev-parse", "FETCH_HEAD^{commit}", "FETCH_HEAD^{tree}").decode().split()
        listed = git.run("ls-tree", "-r", "-t", "-z", "-l", "--full-tree", identity)
    except GitFailed as error:
        raise NotASource(f"Git could not list the files of {ref}.") from error
    if listed.count(b"\0") > MOST_FILES:
        raise NotASource(f"The repository has more than {MOST_FILES:,} files and directories, which is the limit.")
    return _Commit(git, identity, git_tree.directories(git_tree.parse(listed), top))


def _check_repository(source: RemoteSource, session: HttpSession) -> None:
    """Check that the address is a git server. Git itself would take any web page for an empty repository."""
    url = httpx.URL(source.address)
    address = url.copy_with(path=f"{url.path.rstrip('/')}/info/refs", params={"service": "git-upload-pack"})
    headers = {"Git-Protocol": "version=2", "User-Agent": "git/skillsite"}
    response = session.send(address, most=_ADVERTISEMENT_BYTES, headers=headers)
    if response.status in REDIRECTING:
        raise NotASource("The address redirects. We don’t follow redirects for git. Use the target address.")
    if response.status in (401, 403, 404, 410):
        raise NotASource("There is no public repository at this address.")
    check_status(response)
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() != _ADVERTISEMENT:
        raise NotASource("This address is not a git repository.")


def _is_empty(source: RemoteSource, git: Repository) -> bool:
    try:
        return not git.remote_refs(source.address).strip()
    except GitFailed:
        return False


def _contents(git: Repository, skills: Sequence[Directory]) -> Iterator[bytes]:
    """Yield the SKILL.md of each skill in order, with one run of git."""
    try:
        output = git.run("cat-file", "--batch", stdin="".join(f"{skill.skill_md.id}\n" for skill in skills).encode())
    except GitFailed as error:
        raise NotASource("Git could not read the files of the repository.") from error
    position = 0
    for _ in skills:
        start = output.index(b"\n", position) + 1
        size = int(output[position:start].split()[-1])
        yield output[start : start + size]
        position = start + size + 1


def _failure(output: str, ref: str) -> Failure:
    """Return a failure for the error output of git.

    The output itself is not shown: it contains the address and text from the remote side.
    """
    if _NO_SUCH.search(output) and ref == "HEAD":
        return NotASource("The repository has no default branch. Enter a branch, tag or commit.")
    if _NO_SUCH.search(output):
        return NotASource(f"The repository has no branch, tag or commit {ref}.")
    if _NETWORK.search(output):
        return Unreachable("The connection failed or was interrupted.")
    return NotASource("Git could not fetch from the repository.")


def _digest(skill: Directory) -> str:
    return f"tree:{skill.id}"
