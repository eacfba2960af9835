"""Symbolic links: none is committed, because it leads to other files on every machine."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.modules import ROOT

_LINK_MODE = "120000"
_IGNORED = frozenset(ROOT.joinpath(".gitignore").read_text().replace("/", "").split())


def tracked_links() -> list[str]:
    command = ["git", "-c", "safe.directory=*", "ls-files", "--stage"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.startswith(_LINK_MODE)]


def links_below(root: Path) -> Iterator[str]:
    """Yield the links in a copy without a repository, except in what .gitignore names."""
    for directory, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in _IGNORED]
        for name in (*folders, *files):
            if name not in _IGNORED and Path(directory, name).is_symlink():
                yield name


def test_no_symbolic_link_is_committed() -> None:
    assert (tracked_links() if ROOT.joinpath(".git").exists() else list(links_below(ROOT))) == []


def test_links_are_found_in_a_copy_without_a_repository(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in (".venv", "docs/linked", "file"):
        (tmp_path / name).symlink_to("elsewhere")
    assert sorted(links_below(tmp_path)) == ["file", "linked"]
