"""Path validation. Every name that becomes part of a path has to pass through here.

A bundle must unpack to the same files on every machine, so the rules are those of the strictest system. Paths that
Windows, macOS or a terminal would read differently are rejected, not repaired.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

from registry.core.errors import UnsafePath
from registry.core.findings import Finding, Severity
from registry.core.limits import DEFAULT, Limits

SEGMENT_BYTES = 255
COMPONENT_CHARS = 128
TRAVERSAL = "Path traversal detected. "

_DISPLAYED_CHARS = 80
_RENAME = "Rename it. Letters, digits, dots, hyphens and underscores are always safe."
_NO_LINK = "Replace the link with the file itself."
_FORBIDDEN = frozenset('<>:"|?*')
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "clock$", "conin$", "conout$"}
    | {f"{device}{number}" for device in ("com", "lpt") for number in "0123456789¹²³"}
)
# A name that Windows may have given to another file: PROGRA~1 is “Program Files”, GIT~1 is “.git”.
_SHORT_NAME = re.compile(r"[^.]{1,6}~[0-9]{1,6}(\.[^.]{1,3})?")
_SHORT_NAME_CHARS = 8  # before the dot
# Windows programs that do not use Unicode read these as / or \, in some languages.
_SEPARATORS = frozenset("\uff0f\u2215\u2044\uff3c\u00a5\u20a9\uffe5\uffe6")
# Control, format, surrogate, line and paragraph separators: all invisible in a listing.
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Fillers and variation selectors: invisible although Unicode classifies them as letters or marks.
_INVISIBLE = frozenset(
    map(chr, [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0])
) | frozenset(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))


def check(path: str, *, limits: Limits = DEFAULT) -> str:
    """Return the path if it is a safe relative path on every system. Raise UnsafePath otherwise."""
    reason = _fault(path, limits.path_chars) or _depth_fault(path, limits.path_segments)
    if reason:
        traversal = TRAVERSAL if _leaves(path) else ""
        raise _unsafe(path, f"{traversal}The path {display(path)} cannot be used: {reason}.")
    return path


def check_component(value: str, *, what: str) -> str:
    """Return the value if it is safe as the name of a directory. Raise UnsafePath otherwise.

    Names with a leading dot are rejected too. They are reserved for records beside the directory.
    """
    reason = _component_fault(value) if len(value) <= COMPONENT_CHARS else _fault(value, COMPONENT_CHARS)
    if reason:
        raise _unsafe(value, f"The {what} {display(value)} cannot be used as a directory name: {reason}.")
    return value


@lru_cache(maxsize=4_096)  # called with the same names on every request
def _component_fault(value: str) -> str | None:
    reason = _fault(value, COMPONENT_CHARS)
    if not reason and "/" in value:
        return "it contains a slash"
    if not reason and value.startswith("."):
        return "it starts with a dot"
    return reason


def check_collisions(paths: Iterable[str]) -> None:
    """Raise UnsafePath if two paths are the same on a system that ignores case or Unicode normalization.

    This includes directories: `Docs/a` and `docs/b` would become one directory and change the bundle.
    """
    files: dict[str, str] = {}
    directories: dict[str, str] = {}
    folds: dict[str, str] = {}  # each distinct segment is folded once
    for path in paths:
        segments = path.split("/")
        folded = [folds[one] if one in folds else folds.setdefault(one, _folded(one)) for one in segments]
        whole = "/".join(folded)
        if whole in files:
            raise _collision(files[whole], path, "are the same on systems that ignore case")
        files[whole] = path
        for folded_parent, parent in zip(_parents(folded), _parents(segments), strict=True):
            known = directories.setdefault(folded_parent, parent)
            if known != parent:
                raise _collision(f"{known}/", f"{parent}/", "are the same on systems that ignore case")
    for both in sorted(files.keys() & directories.keys()):
        raise _collision(
            files[both], f"{directories[both]}/", "have the same name, but one is a file and one is a folder"
        )


def resolve_inside(root: Path, relative: str, *, limits: Limits = DEFAULT) -> Path:
    """Resolve a path below `root`, following symbolic links. Raise UnsafePath if it leaves `root`.

    Unlike the rest of core this reads the file system, so that all path checks are in one module.
    """
    check(relative, limits=limits)
    try:
        real = (root / relative).resolve()
        inside = root.resolve() in real.parents
    except (OSError, RuntimeError) as error:
        raise _unsafe(relative, f"The path {display(relative)} does not lead to a file.", _NO_LINK) from error
    if not inside:
        message = f"{TRAVERSAL}The path {display(relative)} is a link to a place outside its folder."
        raise _unsafe(relative, message, _NO_LINK)
    return real


def _leaves(path: str) -> bool:
    """Return whether a path would lead out of its folder."""
    return path.startswith(("/", "\\", "~")) or ".." in path.replace("\\", "/").split("/")


def display(path: str) -> str:
    """Return the path for a message: quoted, shortened, and with invisible characters escaped."""
    cut = path if len(path) <= _DISPLAYED_CHARS else f"{path[:_DISPLAYED_CHARS]}…"
    return "".join(f"\\u{ord(c):04x}" if c in _INVISIBLE else c for c in repr(cut))


def _fault(path: str, max_chars: int) -> str | None:
    if not path:
        return "it is empty"
    if len(path) > max_chars:
        return f"it has {len(path):,} characters, and {max_chars:,} are allowed"
    plain = path.isascii() and path.isprintable()  # most paths; looking at each character is slow
    for char in () if plain else path:
        if unicodedata.category(char) in _INVISIBLE_CATEGORIES or char in _INVISIBLE:
            return f"it contains the invisible character U+{ord(char):04X}"
    if "\\" in path:
        return "it contains a backslash; use / between folders"
    if path.startswith(("/", "~")):
        return f"it starts with {path[0]}; paths must be relative to the folder of the skill"
    if path[1:2] == ":" and path[0].isalpha():
        return "it starts with a drive letter"
    if not unicodedata.is_normalized("NFC", path):
        return "its letters are not in the composed Unicode form (NFC)"
    return next((fault for segment in path.split("/") if (fault := _segment_fault(segment))), None)


def _depth_fault(path: str, max_segments: int) -> str | None:
    count = path.count("/") + 1
    return f"it has {count:,} parts between slashes, and {max_segments:,} are allowed" if count > max_segments else None


def _segment_fault(segment: str) -> str | None:
    if not segment:
        return "it contains a double slash or ends with a slash"
    if segment in {".", ".."}:
        return "no part of it may be “.” or “..”"
    if segment[-1] in ". ":
        return "a part of it ends with a dot or a space, which Windows removes"
    if len(segment.encode()) > SEGMENT_BYTES:
        return f"a part of it has {len(segment.encode()):,} bytes, and {SEGMENT_BYTES} are allowed"
    if forbidden := _FORBIDDEN.intersection(segment):
        return f"it contains the character {min(forbidden)}, which Windows does not allow"
    if bad := _SEPARATORS.intersection(segment):
        return f"it contains the character {min(bad)}, which some Windows programs read as a backslash or a slash"
    plain = segment if segment.isascii() else unicodedata.normalize("NFKC", segment)  # full-width and superscript
    stem = segment.partition(".")[0].rstrip(" ").lower()
    if stem in _RESERVED or plain.partition(".")[0].rstrip(" ").lower() in _RESERVED:
        return f"{stem.upper()} is a reserved name on Windows"
    if plain.casefold() == ".git":
        return "git would treat .git as its own files and could run commands from it; delete it"
    if "~" in segment and _SHORT_NAME.fullmatch(segment) and len(segment.partition(".")[0]) <= _SHORT_NAME_CHARS:
        return f"{segment} has the form of a short name, which Windows may give to another file"
    return None


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def _parents(segments: Sequence[str]) -> Iterator[str]:
    """Yield `a` and `a/b` for the segments of `a/b/c`."""
    return accumulate(segments[:-1], "{}/{}".format)


def _unsafe(path: str, message: str, fix: str = _RENAME) -> UnsafePath:
    return UnsafePath(message, findings=[_finding("path-unsafe", path, message, fix)])


def _collision(first: str, second: str, reason: str) -> UnsafePath:
    message = f"{display(first)} and {display(second)} {reason}."
    if first == second:
        message = f"The path {display(first)} appears twice."
    elif unicodedata.normalize("NFC", first) == unicodedata.normalize("NFC", second):
        message = f"The path {display(first)} appears twice, spelled with different characters that look the same."
    finding = _finding("path-collision", second, message, "Rename one of them.")
    return UnsafePath(message, findings=[finding])


def _finding(rule: str, path: str, message: str, fix: str) -> Finding:
    return Finding(rule, Severity.ERROR, display(path)[1:-1], None, message, fix)
