"""Git repositories of a test server, listed and fetched."""

import subprocess
from pathlib import Path
from typing import Any

from registry.remote import sources
from registry.remote.sources import GIT, FetchedBundle, Listing, ListingEntry, RemoteSource
from tests.remote.sources.servers import skill
from tests.services.receivers import Receiver

ONE = {"skills/a/SKILL.md": skill("a", "First."), "skills/a/docs/x.md": b"more", "README.md": b"# Skills"}
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 9\n"


def place_of(server: Receiver, ref: str = "", path: str = "/x.git") -> RemoteSource:
    return RemoteSource(GIT, server.url(path), ref)


def listed(server: Receiver, ref: str = "", path: str = "/x.git", **options: Any) -> Listing:
    return sources.listing(place_of(server, ref, path), allowed=frozenset({server.host}), **options)


def fetched(server: Receiver, entry: ListingEntry, **options: Any) -> FetchedBundle:
    return sources.fetch(place_of(server), entry, allowed=frozenset({server.host}), **options)


def git(path: Path, *arguments: str, given: bytes = b"") -> str:
    return (
        subprocess.run(["git", "-C", str(path), *arguments], input=given, check=True, capture_output=True)
        .stdout.decode()
        .strip()
    )
