"""Finds links and file paths in Markdown."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from registry.lib.patterns import lazy


@dataclass(frozen=True, slots=True)
class Pointer:
    target: str
    line: int
    linked: bool  # a Markdown link, not just a path in the text


_LINK = lazy(r"\]\(\s*<?([^()\s<>]{1,500})")
_DEFINITION = lazy(r" {0,3}\[(?!\^)[^\]]{1,200}\]:\s*<?([^\s<>]{1,500})")
_NAMED = lazy(
    r"(?<![\w/.\-:<>{}*$])(?:\./)?"
    r"((?:scripts|references|assets|templates|examples)/(?:[\w-]+/){0,8}[\w-]+(?:\.[\w-]+){0,3}\.\w{1,8})(?![\w/*{<])"
)
_FENCE = lazy(r" {0,3}(`{3,}|~{3,})")
_CODE = lazy(r"`+")
_SCHEME = lazy(r"[A-Za-z][A-Za-z0-9+.-]*:")


def pointers(text: str, *, first_line: int = 1) -> Iterator[Pointer]:
    """Yield links and paths in reading order. In fenced code only scripts count, because other paths are examples."""
    fence = ""
    for number, line in enumerate(text.split("\n"), first_line):
        if "/" not in line and "]" not in line and "```" not in line and "~~~" not in line:
            continue  # no pointer and no fence: most lines of most texts
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif fence:
            yield from (pointer for pointer in _named(line, number) if pointer.target.startswith("scripts/"))
        else:
            yield from _in_line(line, number)


def _in_line(line: str, number: int) -> Iterator[Pointer]:
    if definition := _DEFINITION.match(line):
        yield Pointer(definition[1], number, True)
        return
    for part, text in enumerate(_CODE.split(line)):
        if part % 2:
            yield from _named(text, number)
        else:
            yield from (Pointer(link[1], number, True) for link in _LINK.finditer(text))
            yield from _named(_LINK.sub("](", text), number)


def _named(text: str, number: int) -> Iterator[Pointer]:
    return (Pointer(path[1], number, False) for path in _NAMED.finditer(text))


def is_remote(target: str) -> bool:
    """Check for links that cannot be files of the bundle: other schemes or hosts, and anchors."""
    elsewhere = bool(_SCHEME.match(target)) and not target.startswith("file:")
    return elsewhere or target.startswith(("#", "//", "?"))


def resolve(target: str, *, file: str) -> str | None:
    """Return the target of a link in `file` as a path in the bundle, or None if it is outside."""
    path = unquote(re.split(r"[#?]", target, maxsplit=1)[0]).replace("\\", "/")
    if path.startswith(("/", "~", "file:")):
        return None
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
    return None if joined == ".." or joined.startswith("../") else joined
