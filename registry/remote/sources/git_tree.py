"""File tree of a commit, from the output of `git ls-tree`, and the skills in it."""

from bisect import bisect_right
from dataclasses import dataclass

from registry.core.archive.zip_bundle import skill_directories
from registry.core.bundle import SKILL_MD
from registry.core.limits import Limits
from registry.core.paths import display

_LINK, _SUBMODULE, _DIRECTORY = b"120000", b"160000", b"040000"


@dataclass(frozen=True, slots=True)
class Entry:
    path: bytes
    mode: bytes
    id: str
    size: int


@dataclass(frozen=True, slots=True)
class Directory:
    """A directory with a SKILL.md. `id` is the tree id, which changes exactly when the content changes."""

    path: str
    id: str
    skill_md: Entry
    files: tuple[Entry, ...]

    def fault(self, limits: Limits) -> str:
        """Return why the skill cannot be fetched, or an empty string."""
        for entry in self.files:
            label = display(entry.path.decode(errors="replace"))
            if entry.mode == _LINK:
                return f"{label} is a symbolic link. Links are not followed."
            if entry.mode == _SUBMODULE:
                return f"{label} is a submodule. Its files are in another repository."
            if entry.size > limits.file_bytes:
                return f"{label} has {entry.size:,} bytes. {limits.file_bytes:,} are allowed."
        if self.skill_md.size > limits.skill_md_bytes:
            return f"SKILL.md has {self.skill_md.size:,} bytes. {limits.skill_md_bytes:,} are allowed."
        if len(self.files) > limits.files:
            return f"It has {len(self.files):,} files. {limits.files:,} are allowed."
        total = sum(entry.size for entry in self.files)
        if total > limits.archive_bytes:
            return f"Its files have {total:,} bytes together. {limits.archive_bytes:,} are allowed."
        return ""


def parse(output: bytes) -> list[Entry]:
    """Parse the output of `git ls-tree -r -t -z -l`. Entries are sorted by bytes."""
    entries = []
    for line in output.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        mode, _, identity, size = facts.split()
        entries.append(Entry(path, mode, identity.decode(), int(size) if size.isdigit() else 0))
    return sorted(entries, key=lambda entry: entry.path)


def directories(entries: list[Entry], top: str) -> dict[str, Directory]:
    """Return the skill directories by path; `top` is the id of the root tree."""
    files = [entry for entry in entries if entry.mode != _DIRECTORY]
    ids = {entry.path: entry.id for entry in entries if entry.mode == _DIRECTORY} | {b"": top}
    plain = {entry.path: entry for entry in files if entry.mode not in (_LINK, _SUBMODULE)}
    skills = {}
    for root in skill_directories(plain):
        path, inside = root.removesuffix(b"/"), _below(root, files)
        name = path.decode(errors="backslashreplace")
        if path in ids:
            skills[name] = Directory(name, ids[path], plain[root + SKILL_MD.encode()], inside)
    return skills


def _below(root: bytes, files: list[Entry]) -> tuple[Entry, ...]:
    first = end = bisect_right(files, root, key=lambda entry: entry.path)
    while end < len(files) and files[end].path.startswith(root):
        end += 1
    return tuple(files[first:end])
