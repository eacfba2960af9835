"""Entries of a resolve request, and checks of their results on disk."""

from pathlib import Path
from typing import Any

from registry.core.bundle import SKILL_MD, Bundle
from registry.remote.resolver import Resolved
from tests.conftest import skill_text
from tests.remote.cached import leftovers, version_directory

TEXT = skill_text("a")
RUN = b"#!/bin/sh\necho run\n"


def entry(url: str = "", name: str = "a", version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    return {"name": name, "version": version, "url": url, **more}


def inline(text: str = TEXT, name: str = "a", version: str = "1.0.0") -> dict[str, Any]:
    return {"Format": "SkillMd", "Name": name, "Version": version, "SkillMd": text}


def place(root: Path, name: str = "a", version: str = "1.0.0") -> Path:
    return version_directory(root, name, version)


def digest_place(root: Path, text: str = TEXT, name: str = "a") -> Path:
    return root / "digests" / Bundle({SKILL_MD: text.encode()}).digest.removeprefix("sha256:") / name


def by_hand(root: Path, text: str = TEXT, **where: str) -> None:
    place(root, **where).mkdir(parents=True)
    (place(root, **where) / SKILL_MD).write_text(text)


def only(results: list[Resolved]) -> Resolved:
    (one,) = results
    return one


def skip(results: list[Resolved], root: Path) -> str:
    """Return the reason of the only entry, after checking that it was skipped and stored nothing."""
    one = only(results)
    assert (one.status, one.directory, one.digest, one.files) == ("skipped", None, "", ())
    assert not place(root).exists()
    assert leftovers(root) == []
    assert one.reason.endswith((".", ")"))
    return one.reason
