"""Sandboxed git: no configuration, prompts or hooks, one host, with limits for bytes and time.

git makes its own connections, so it gets the IP addresses that were checked and does not follow redirects.
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

OLDEST = (2, 37)  # the first version with http.curloptResolve
_POLL_SECONDS = 0.02
_MEMORY = 1024 * MIB
_ONE_ALLOCATION = 256 * MIB
_ERROR_BYTES = 4_096
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
# Overrides the attributes of the repository, so that none changes or hides a file.
_ATTRIBUTES = "* -export-ignore -export-subst -text !eol !ident !filter !working-tree-encoding\n"


class Repository:
    """Temporary bare repository for one session, in its own directory."""

    def __init__(self, directory: Path, session: HttpSession) -> None:
        self._directory, self._session = directory, session
        self._repository = directory / "repository"
        self._check_version()
        self.run("init", "--quiet", "--bare", "--template=", "--object-format=sha1")
        (self._repository / "info").mkdir(exist_ok=True)
        (self._repository / "info" / "attributes").write_text(_ATTRIBUTES)

    def fetch(self, address: str, ref: str) -> None:
        """Fetch one commit without history to FETCH_HEAD."""
        options = ("--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance")
        self._connect(address, "fetch", "--quiet", *options, then=[ref])

    def remote_refs(self, address: str) -> bytes:
        return self._connect(address, "ls-remote", "--quiet")

    def _connect(self, address: str, *arguments: str, then: Sequence[str] = ()) -> bytes:
        """Run a command that connects to the host, only at IP addresses that were just checked."""
        url, pin = pinned(address, self._session.allowed)
        settings = {"http.curloptResolve": pin} if pin else {}
        return self.run(*arguments, "--", str(url), *then, settings=settings, protocol=url.scheme)

    def renew(self) -> None:
        """Restart the deadline, because the consumer of fetched skills may be slow."""
        self._session = replace(self._session, started=time.monotonic())

    def run(
        self, *arguments: str, stdin: bytes = b"", settings: Mapping[str, str] | None = None, protocol: str = ""
    ) -> bytes:
        """Return the output of git. The repository, the output and the errors may each be as large as an archive."""
        stdin_file, stdout, stderr = (self._directory / name for name in ("stdin", "stdout", "stderr"))
        stdin_file.write_bytes(stdin)
        options = [part for key, value in {**_CONFIGURATION, **(settings or {})}.items() for part in _set(key, value)]
        with stdin_file.open("rb") as source, stdout.open("wb") as out, stderr.open("wb") as err:
            process = _start(
                ["git", *options, *arguments],
                self._environment(protocol),
                source,
                out,
                err,
                self._session.limits.archive_bytes,
            )
            self._watch(process)
        if process.returncode:
            raise GitFailed(_end(stderr))
        return stdout.read_bytes()

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
            with suppress(ProcessLookupError, PermissionError):  # mostly no child process is left
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _check_bounds(self) -> None:
        if self._session.seconds_left <= 0:
            raise Unreachable(f"Reading the repository took longer than {self._session.seconds:g} seconds.")
        most = self._session.limits.archive_bytes
        for what in (self._repository, self._directory / "stdout", self._directory / "stderr"):
            if _size(what) > most:
                raise NotASource(f"The repository is larger than the limit of {most:,} bytes for one commit.")

    def _environment(self, protocol: str) -> dict[str, str]:
        """Return an environment that has only PATH of ours."""
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
            "GIT_SSL_CAINFO": certifi.where(),  # the same root certificates as for other requests
            "GIT_TERMINAL_PROMPT": "0",
        }

    def _check_version(self) -> None:
        try:
            version = self.run("version").decode(errors="replace")
        except FileNotFoundError as error:
            raise Failure("Git is not installed on this server, so git sources do not work.") from error
        found = re.search(r"(\d+)\.(\d+)", version)
        if not found or (int(found[1]), int(found[2])) < OLDEST:
            needed = ".".join(map(str, OLDEST))
            raise Failure(f"Git sources need git {needed} or newer. This server has {version.strip()[:40]}.")


class GitFailed(Exception):
    """git failed. The message is the end of its error output, which may contain the address and remote text."""


@contextmanager
def repository(session: HttpSession) -> Iterator[Repository]:
    with TemporaryDirectory(prefix="skillsite-git-") as directory:
        yield Repository(Path(directory), session)


def pinned(address: str, allowed: frozenset[str]) -> tuple[httpx.URL, str]:
    """Return the URL for git and the value of http.curloptResolve, which is empty if the host is an IP address."""
    url = httpx.URL(address)
    if refusal := outbound_http.scheme_refusal(url, allowed=allowed):
        raise Refused(refusal)
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        addresses = outbound_http.permitted_addresses(url.host, port, allowed=allowed)
    except Refused:
        raise
    except Failure as error:
        raise Unreachable(str(error)) from error
    name = url.raw_host.decode("ascii").rstrip(".")
    if ":" in url.host or _NUMBER_HOST.search(name):
        return url.copy_with(host=addresses[0]), ""
    listed = ",".join(f"[{one}]" if ":" in one else one for one in addresses)
    return url.copy_with(host=name), f"{name}:{port}:{listed}"


def _start(
    command: list[str], environment: dict[str, str], source: IO[bytes], out: IO[bytes], err: IO[bytes], most: int
) -> "subprocess.Popen[bytes]":
    """Start a process group, so that child processes end with git. They inherit its limits of memory and file size."""
    process = subprocess.Popen(  # noqa: S603 - fixed program, and no remote text can become an option
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
    """Return the bytes of a file, or of all files below a directory. Files that vanish meanwhile are ignored."""
    total = 0
    for one in (path, *path.rglob("*")):
        try:
            total += one.lstat().st_size
        except FileNotFoundError:
            continue
    return total


def _end(path: Path) -> str:
    return path.read_bytes()[-_ERROR_BYTES:].decode(errors="replace")
