"""Runs git as if it were hostile: no configuration, prompts or hooks, one host, so many bytes, until a deadline.

git dials by itself, so it is told the addresses that were judged, and follows no redirect away from them.
"""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import certifi
import httpx

from registry.core.limits import MIB
from registry.remote import outbound_http
from registry.remote.outbound_http import Failure, Refused
from registry.remote.sources.http import HttpSession
from registry.remote.sources.types import NotASource, Unreachable

OLDEST = (2, 37)  # before it, git does not know how to be told an address
_POLL_SECONDS = 0.02
_MEMORY = 1024 * MIB
_ONE_ALLOCATION = 256 * MIB
_SAID_BYTES = 4_096
_NUMBER_HOST = re.compile(r"(^|\.)(0x[0-9a-f]*|[0-9]+)$", re.IGNORECASE)
_CONFIGURATION = {
    "core.hooksPath": os.devnull,
    "core.askPass": "",
    "core.bigFileThreshold": "1m",  # larger objects are passed through, not held in memory
    "credential.helper": "",
    "fetch.unpackLimit": "1",
    "fetch.recurseSubmodules": "false",
    "http.followRedirects": "false",
    "http.proxy": "",
    "pack.threads": "1",
    "protocol.version": "2",
    "submodule.recurse": "false",
    "transfer.bundleURI": "false",
}
# What a repository says about its files changes none of their bytes and hides none of them.
_ATTRIBUTES = "* -export-ignore -export-subst -text !eol !ident !filter !working-tree-encoding\n"


class Repository:
    """An empty bare repository that lives for one errand, in a directory of its own."""

    def __init__(self, directory: Path, session: HttpSession) -> None:
        self._directory, self._errand = directory, session
        self._repository = directory / "repository"
        self._check_version()
        self.run("init", "--quiet", "--bare", "--template=", "--object-format=sha1")
        (self._repository / "info").mkdir(exist_ok=True)
        (self._repository / "info" / "attributes").write_text(_ATTRIBUTES)

    def fetch(self, address: str, wanted: str) -> None:
        """The files of one commit and nothing of its history, as FETCH_HEAD."""
        options = ("--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance")
        self._ask(address, "fetch", "--quiet", *options, then=[wanted])

    def remote_refs(self, address: str) -> bytes:
        return self._ask(address, "ls-remote", "--quiet")

    def _ask(self, address: str, *arguments: str, then: Sequence[str] = ()) -> bytes:
        """A command that dials: only that host, only at the addresses that were judged just now."""
        url, pin = pinned(address, self._errand.allowed)
        settings = {"http.curloptResolve": pin} if pin else {}
        return self.run(*arguments, "--", str(url), *then, settings=settings, protocol=url.scheme)

    def renew(self) -> None:
        """The time starts anew: what was fetched waits for nobody, and whoever takes it may be slow."""
        self._errand = replace(self._errand, started=time.monotonic())

    def run(
        self, *arguments: str, stdin: bytes = b"", settings: Mapping[str, str] | None = None, protocol: str = ""
    ) -> bytes:
        """What git wrote. What came, what it wrote and what it said may each have the bytes of one archive."""
        asked, said, told = (self._directory / name for name in ("stdin", "stdout", "stderr"))
        asked.write_bytes(stdin)
        options = [part for key, value in {**_CONFIGURATION, **(settings or {})}.items() for part in _set(key, value)]
        with asked.open("rb") as source, said.open("wb") as out, told.open("wb") as err:
            process = _start(
                ["git", *options, *arguments],
                self._environment(protocol),
                source,
                out,
                err,
                self._errand.limits.archive_bytes,
            )
            self._watch(process)
        if process.returncode:
            raise GitFailed(_end(told))
        return said.read_bytes()

    def _watch(self, process: "subprocess.Popen[bytes]") -> None:
        try:
            while process.poll() is None:
                self._check_bounds()
                try:
                    process.wait(_POLL_SECONDS)
                except subprocess.TimeoutExpired:
                    continue
            self._check_bounds()
        finally:
            with suppress(ProcessLookupError, PermissionError):  # helpers may outlive it; mostly nobody is left
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _check_bounds(self) -> None:
        if self._errand.left <= 0:
            raise Unreachable(f"The repository was not read within {self._errand.seconds:g} seconds.")
        most = self._errand.limits.archive_bytes
        for what in (self._repository, self._directory / "stdout", self._directory / "stderr"):
            if _size(what) > most:
                raise NotASource(f"The repository has more than the {most:,} bytes that are allowed at one commit.")

    def _environment(self, protocol: str) -> dict[str, str]:
        """Nothing of ours but where programs are."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self._directory),
            "XDG_CONFIG_HOME": str(self._directory),
            "LC_ALL": "C",
            "GIT_DIR": str(self._repository),
            "GIT_ALLOC_LIMIT": str(_ONE_ALLOCATION),
            "GIT_ALLOW_PROTOCOL": protocol,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_SSL_CAINFO": certifi.where(),  # the same roots as for every other request
            "GIT_TERMINAL_PROMPT": "0",
        }

    def _check_version(self) -> None:
        try:
            said = self.run("version").decode(errors="replace")
        except FileNotFoundError as error:
            raise Failure("Git is not installed on this server, so that git sources cannot be read.") from error
        found = re.search(r"(\d+)\.(\d+)", said)
        if not found or (int(found[1]), int(found[2])) < OLDEST:
            needed = ".".join(map(str, OLDEST))
            raise Failure(f"Git sources need git {needed} or newer, and this server has another: {said.strip()[:40]}.")


class GitFailed(Exception):
    """What git said last, for whoever knows what was asked of it. It may hold the address and words of the remote."""


@contextmanager
def repository(session: HttpSession) -> Iterator[Repository]:
    with TemporaryDirectory(prefix="skillsite-git-") as directory:
        yield Repository(Path(directory), session)


def pinned(address: str, allowed: frozenset[str]) -> tuple[httpx.URL, str]:
    """The address as git gets it, and the line that fixes where its name leads. A number is its own address."""
    url = httpx.URL(address)
    if refusal := outbound_http.scheme_refusal(url, allowed=allowed):
        raise Refused(refusal)
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        found = outbound_http.judged(url.host, port, allowed=allowed)
    except Refused:
        raise
    except Failure as error:
        raise Unreachable(str(error)) from error
    name = url.raw_host.decode("ascii").rstrip(".")
    if ":" in url.host or _NUMBER_HOST.search(name):
        return url.copy_with(host=found[0]), ""
    listed = ",".join(f"[{one}]" if ":" in one else one for one in found)
    return url.copy_with(host=name), f"{name}:{port}:{listed}"


def _start(
    command: list[str], environment: dict[str, str], source: IO[bytes], out: IO[bytes], err: IO[bytes], most: int
) -> "subprocess.Popen[bytes]":
    """In a group of its own, so that its helpers end with it, and share its bounds of memory and of bytes in a file."""
    process = subprocess.Popen(  # noqa: S603 - the program is ours, and no argument of others can be an option
        command, env=environment, stdin=source, stdout=out, stderr=err, start_new_session=True, cwd=environment["HOME"]
    )
    if sys.platform == "linux":
        with suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (2 * most, 2 * most))
    return process


def _set(key: str, value: str) -> tuple[str, str]:
    return "-c", f"{key}={value}"


def _size(path: Path) -> int:
    """Bytes of a file or of all files below a directory; what vanishes meanwhile counts nothing."""
    total = 0
    for one in (path, *path.rglob("*")):
        try:
            total += one.lstat().st_size
        except FileNotFoundError:
            continue
    return total


def _end(path: Path) -> str:
    return path.read_bytes()[-_SAID_BYTES:].decode(errors="replace")
