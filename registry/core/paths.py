"""Says whether a path is safe: the one place where any name becomes part of a path.

A bundle has to unpack to the same files on every machine, so the rules are those of the strictest one:
what Windows, macOS or a terminal would read differently is refused, not repaired.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from registry.core.errors import UnsafePath
from registry.core.findings import Finding, Severity
from registry.core.limits import DEFAULT, Limits

SEGMENT_BYTES = 255
COMPONENT_CHARS = 128

_SHOWN_CHARS = 80
_RENAME = "Rename it: a relative path of letters, digits, dots, hyphens and underscores is safe everywhere."
_NO_LINK = "Put the file itself in its place."
_FORBIDDEN = frozenset('<>:"|?*')
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "clock$", "conin$", "conout$"}
    | {f"{device}{number}" for device in ("com", "lpt") for number in "0123456789¹²³"}
)
# Control, format, surrogate, line and paragraph separator: none of them can be seen in a listing.
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Drawn as nothing although their category is that of a letter or a mark: fillers and variation selectors.
_UNSEEN = frozenset(
    map(chr, [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0])
) | frozenset(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))


def check(path: str, *, limits: Limits = DEFAULT) -> str:
    """The path itself if it names a file inside a bundle on every system; else UnsafePath."""
    reason = _fault(path, limits.path_chars)
    if reason:
        raise _unsafe(path, f"The path {shown(path)} cannot be used: {reason}.")
    return path


def component(value: str, *, what: str) -> str:
    """One safe segment, for a name or version that comes from elsewhere and becomes a directory.

    A leading dot is refused as well: those names are left to whoever keeps records beside the directory.
    """
    reason = _component_fault(value) if len(value) <= COMPONENT_CHARS else _fault(value, COMPONENT_CHARS)
    if reason:
        raise _unsafe(value, f"The {what} {shown(value)} cannot be used as a directory name: {reason}.")
    return value


@lru_cache(maxsize=4_096)
def _component_fault(value: str) -> str | None:
    """Kept for the names that come with every request."""
    reason = _fault(value, COMPONENT_CHARS)
    if not reason and "/" in value:
        return "it has a slash, and one directory name is needed"
    if not reason and value.startswith("."):
        return "it starts with a dot"
    return reason


def check_collisions(paths: Iterable[str]) -> None:
    """Refuses paths that would meet on a system that ignores case or Unicode form.

    Directories count too: `Docs/a` and `docs/b` become one directory there, and the bundle another one.
    """
    files: dict[str, str] = {}
    directories: dict[str, str] = {}
    for path in paths:
        folded = _folded(path)
        if folded in files:
            raise _collision(files[folded], path, "are the same where case is ignored")
        files[folded] = path
        for parent in _parents(path):
            known = directories.setdefault(_folded(parent), parent)
            if known != parent:
                raise _collision(f"{known}/", f"{parent}/", "are the same where case is ignored")
    for folded in sorted(files.keys() & directories.keys()):
        raise _collision(files[folded], f"{directories[folded]}/", "are a file and a directory of one name")


def confined(root: Path, relative: str, *, limits: Limits = DEFAULT) -> Path:
    """The real file that `relative` names below `root`, with every link followed; else UnsafePath.

    It asks the file system where links lead, which core otherwise never does: a name that looks safe
    may be a link out of its directory, and the answer to "is this path safe" belongs in one module.
    """
    check(relative, limits=limits)
    try:
        real = (root / relative).resolve()
        inside = root.resolve() in real.parents
    except (OSError, RuntimeError) as error:
        raise _unsafe(relative, f"The path {shown(relative)} cannot be followed to a file.", _NO_LINK) from error
    if not inside:
        raise _unsafe(relative, f"The path {shown(relative)} is a link that leads out of its directory.", _NO_LINK)
    return real


def shown(path: str) -> str:
    """The path for a message: quoted, unseen characters escaped, and cut where it is very long."""
    cut = path if len(path) <= _SHOWN_CHARS else f"{path[:_SHOWN_CHARS]}…"
    return "".join(f"\\u{ord(c):04x}" if c in _UNSEEN else c for c in repr(cut))


def _fault(path: str, max_chars: int) -> str | None:
    if not path:
        return "it is empty"
    if len(path) > max_chars:
        return f"it has {len(path):,} characters, {max_chars:,} are allowed"
    for char in path:
        if unicodedata.category(char) in _UNSEEN_CATEGORIES or char in _UNSEEN:
            return f"it has the invisible character U+{ord(char):04X}"
    if "\\" in path:
        return "it has a backslash; separate directories with /"
    if path.startswith(("/", "~")):
        return f"it starts with {path[0]}; paths are relative to the directory of the skill"
    if path[1:2] == ":" and path[0].isalpha():
        return "it starts with a drive letter"
    if not unicodedata.is_normalized("NFC", path):
        return "its letters are not in composed Unicode form (NFC)"
    return next((fault for segment in path.split("/") if (fault := _segment_fault(segment))), None)


def _segment_fault(segment: str) -> str | None:
    if not segment:
        return "it has an empty segment (a double or trailing slash)"
    if segment in {".", ".."}:
        return "no segment may be “.” or “..”"
    if segment[-1] in ". ":
        return "a segment ends with a dot or a space, which Windows drops"
    if len(segment.encode()) > SEGMENT_BYTES:
        return f"a segment has {len(segment.encode()):,} bytes, {SEGMENT_BYTES} are allowed"
    if bad := next((char for char in segment if char in _FORBIDDEN), None):
        return f"it has the character {bad}, which Windows does not allow"
    stem = segment.partition(".")[0].rstrip(" ").lower()
    if stem in _RESERVED:
        return f"Windows keeps the name {stem.upper()} for a device"
    return None


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def _parents(path: str) -> list[str]:
    """`a` and `a/b` for `a/b/c`."""
    segments = path.split("/")
    return ["/".join(segments[:end]) for end in range(1, len(segments))]


def _unsafe(path: str, message: str, fix: str = _RENAME) -> UnsafePath:
    return UnsafePath(message, findings=[_finding("path-unsafe", path, message, fix)])


def _collision(first: str, second: str, reason: str) -> UnsafePath:
    message = f"{shown(first)} and {shown(second)} {reason}."
    if first == second:
        message = f"The path {shown(first)} appears twice."
    elif unicodedata.normalize("NFC", first) == unicodedata.normalize("NFC", second):
        message = f"The path {shown(first)} appears twice, spelled with different characters that look the same."
    finding = _finding("path-collision", second, message, "Rename one of the two.")
    return UnsafePath(message, findings=[finding])


def _finding(rule: str, path: str, message: str, fix: str) -> Finding:
    return Finding(rule, Severity.ERROR, shown(path)[1:-1], None, message, fix)
