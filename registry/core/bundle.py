"""A skill as a value: the files of one directory, their digest, and what SKILL.md says about itself."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from registry.core import paths
from registry.core.errors import InvalidSkill
from registry.core.findings import Finding, Severity

SKILL_MD = "SKILL.md"


def content_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def normalise(name: str) -> str:
    """The one spelling a skill is stored, found and served under."""
    return name.strip().lower()


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a bundle without its bytes; `digest` is plain sha256 hex of the content."""

    path: str
    size: int
    digest: str


def in_byte_order(entries: Iterable[FileEntry]) -> tuple[FileEntry, ...]:
    """Sort entries by the UTF-8 bytes of their paths, the order of every manifest."""
    return tuple(sorted(entries, key=lambda entry: entry.path.encode()))


def bundle_digest(entries: Iterable[FileEntry]) -> str:
    """`sha256:` over the lines of `sha256sum`, in byte order of paths. Modes and times are not part of it."""
    total = hashlib.sha256()
    for entry in in_byte_order(entries):
        total.update(f"{entry.digest}  {entry.path}\n".encode())
    return f"sha256:{total.hexdigest()}"


class Bundle(Mapping[str, bytes]):
    """The whole directory as one immutable value: safe relative paths, in byte order, to their content."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        for path in files:
            paths.check(path)
        paths.check_collisions(files)
        self._files = {path: bytes(files[path]) for path in sorted(files, key=str.encode)}
        if SKILL_MD not in self._files:
            raise InvalidSkill(
                "A skill needs a file SKILL.md at its root.",
                findings=[
                    Finding(
                        "skill-md-missing",
                        Severity.ERROR,
                        SKILL_MD,
                        None,
                        "There is no SKILL.md.",
                        "Add a file named SKILL.md at the top.",
                    )
                ],
            )

    def __getitem__(self, path: str) -> bytes:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    @cached_property
    def manifest(self) -> tuple[FileEntry, ...]:
        return tuple(FileEntry(path, len(content), content_digest(content)) for path, content in self.items())

    @cached_property
    def digest(self) -> str:
        return bundle_digest(self.manifest)

    @property
    def size(self) -> int:
        return sum(len(content) for content in self._files.values())

    def replacing(self, changes: Mapping[str, bytes | None]) -> "Bundle":
        """The same bundle with some files set, and those given as None removed."""
        files = {**self._files, **{p: c for p, c in changes.items() if c is not None}}
        return Bundle({p: c for p, c in files.items() if not (p in changes and changes[p] is None)})
