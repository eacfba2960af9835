"""Bundle: the files of one skill as an immutable value with a digest."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from registry.core import paths
from registry.core.errors import InvalidSkill
from registry.core.findings import Finding, Severity
from registry.core.limits import DEFAULT

SKILL_MD = "SKILL.md"

# Readers of new files check the depth of paths. Skills that were stored before that limit existed stay readable.
_STORED = replace(DEFAULT, path_segments=DEFAULT.path_chars)


def content_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def normalise(name: str) -> str:
    """Return the spelling under which a skill is stored, looked up and served."""
    return name.strip().lower()


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of a bundle without its content. `digest` is the SHA-256 of the content in hex, without a prefix."""

    path: str
    size: int
    digest: str


def in_byte_order(entries: Iterable[FileEntry]) -> tuple[FileEntry, ...]:
    """Sort entries by the UTF-8 bytes of their paths, the order of every manifest."""
    return tuple(sorted(entries, key=lambda entry: entry.path.encode()))


def bundle_digest(entries: Iterable[FileEntry]) -> str:
    """Return `sha256:` and the hash of the `sha256sum` lines, sorted by the bytes of the path.

    File modes and times are not part of it.
    """
    total = hashlib.sha256()
    for entry in in_byte_order(entries):
        total.update(f"{entry.digest}  {entry.path}\n".encode())
    return f"sha256:{total.hexdigest()}"


class Bundle(Mapping[str, bytes]):
    """Map safe relative paths, in byte order, to contents. Immutable, and always has a SKILL.md."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        for path in files:
            paths.check(path, limits=_STORED)
        paths.check_collisions(files)
        self._files = {path: bytes(files[path]) for path in sorted(files, key=str.encode)}
        if SKILL_MD not in self._files:
            raise InvalidSkill(
                "A skill needs a file named SKILL.md at the top level.",
                findings=[
                    Finding(
                        "skill-md-missing",
                        Severity.ERROR,
                        SKILL_MD,
                        None,
                        "The skill has no SKILL.md.",
                        "Add a file named SKILL.md at the top level.",
                    )
                ],
            )

    @classmethod
    def stored(cls, files: Mapping[str, bytes]) -> "Bundle":
        """Return a bundle of files that were checked when they were stored.

        Rules that are newer than the files do not apply, so that people can still open a skill and correct it.
        """
        bundle = cls.__new__(cls)
        bundle._files = {path: bytes(files[path]) for path in sorted(files, key=str.encode)}
        return bundle

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

    def with_changes(self, changes: Mapping[str, bytes | None]) -> "Bundle":
        """Return a copy with these files set. None removes a file."""
        files = {**self._files, **{p: c for p, c in changes.items() if c is not None}}
        return Bundle({p: c for p, c in files.items() if not (p in changes and changes[p] is None)})
