"""Finds commands that run code nobody can review: downloaded or decoded, and passed to an interpreter.

It looks at one command at a time. A file that one command downloads and another one runs is not found.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """A line that runs downloaded or decoded code. `text` is an excerpt of it."""

    offset: int
    text: str
    decoded: bool


# A lookahead for the first letter makes the search several times as fast.
_SOURCE = re.compile(
    r"(?=[.abcfiowx])(?:(?<![\w.-])(?:"
    r"(?:curl|wget2?|aria2c|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)(?:\.exe)?[ \t]+[^\s|]"
    r"|(?P<decoded>base(?:64|32)[ \t]+(?:--?[\w=-]{1,20}[ \t]+){0,3}(?:-[a-z]{0,4}d[a-z]{0,4}|--decode)\b"
    r"|openssl[ \t]+(?:enc[ \t]+)?-?base64[ \t][^|\n]{0,60}?-d\b|xxd[ \t]+(?:-\w{1,8}[ \t]+){0,3}-r))"
    r"|\.Download(?:String|Data)\(|(?P<converted>FromBase64String\())",
    re.IGNORECASE,
)
_SHELL = r"(?:ba|z|da|k|a|fi)?sh|iex|Invoke-Expression"
_LANGUAGE = r"python[\d.]{0,5}|node|deno|bun|perl|ruby|php|lua|pwsh|powershell|osascript"
_BEFORE = (
    r"(?:(?:sudo|doas|env|exec|command|nohup)[ \t]+(?:-\w{1,20}[ \t]+|\w{1,40}=\S{0,80}[ \t]+){0,4})?"
    r"(?:/[\w/.-]{0,60}/)?"
)
# An interpreter with a script or `-c` reads the pipe as data, so it does not count.
_SINK = re.compile(
    rf"[ \t]*{_BEFORE}(?:(?:{_SHELL})(?![\w-]|\.\w)(?![ \t]+(?:-[a-z]{{0,8}}c\b|[\"']|[^\s|`<>;&-]{{0,100}}?[./$]\w))"
    rf"|(?:{_LANGUAGE})(?![\w.])[ \t]*(?:-(?![\w-])|$|[`\"')}};&|<>\\]))",
    re.IGNORECASE,
)
_PIPE = re.compile(r"\|{1,2}")
# The start of a substitution whose output is run as a command or script.
_SUBSTITUTION = re.compile(
    rf"(?<![\w.-])(?:(?:(?:{_SHELL}|{_LANGUAGE})(?:[ \t]+-\w{{1,20}}){{0,3}}|source|\.)[ \t]+<\("
    rf"|(?:(?:{_SHELL}|{_LANGUAGE})[ \t]+(?:-\w{{1,20}}[ \t]+){{0,3}}?-\w{{0,8}}[ce]|eval)[ \t]+[\"']?(?:\$\(|`)"
    r"|(?:iex|Invoke-Expression)[ \t]*(?:\(|\"?\$\())",
    re.IGNORECASE,
)
_SUBSTITUTED_CHARS = 300
_CLOSED = re.compile(r"[;&]|\)(?!\.)")
_CALLED = re.compile(
    r"\b(?:exec|eval|Function)[ \t]*\(\s{0,20}(?:[\w.]{1,40}\(\s{0,20}){0,3}?"
    r"(?:(?P<fetched>[\w.]{0,40}\b(?:requests\.get|httpx\.get|urlopen))"
    r"|(?:[\w.]{0,40}\b(?:b64decode|b32decode|unhexlify|fromhex)|atob|Buffer\.from))\("
)
_ENCODED_COMMAND = re.compile(
    r"\b(?:powershell|pwsh)(?:\.exe)?[ \t][^|\n]{0,80}?-e(?:nc|ncodedcommand)?[ \t]+[A-Za-z0-9+/=]{40}", re.IGNORECASE
)
# A backslash or a pipe at the end of a line continues in the next one, except for a pipe in a table.
_CONTINUATION = re.compile(r"\\\r?\n|(?<=[^|\s])[ \t]?\|[ \t]{0,20}\r?\n(?![ \t]{0,20}\|)")
_EXCERPT_CHARS = 60


def find(text: str) -> Iterator[Run]:
    """Yield at most one match per line, in reading order."""
    joined = _CONTINUATION.sub(_on_one_line, text)
    matches = sorted([*_piped(joined), *_direct(joined)])
    end = 0
    for start, decoded in matches:
        if start >= end:
            begin, end = _line_around(joined, start)
            excerpt = joined[max(begin, start - _EXCERPT_CHARS) : min(end, start + _EXCERPT_CHARS)]
            yield Run(start, excerpt.strip(), decoded)


def _line_around(text: str, start: int) -> tuple[int, int]:
    end = text.find("\n", start)
    return text.rfind("\n", 0, start) + 1, end if end >= 0 else len(text)


def _on_one_line(match: re.Match[str]) -> str:
    """Replace line breaks by spaces. The length stays the same, so that offsets stay valid."""
    return match[0].replace("\\", " ").replace("\r", " ").replace("\n", " ")


def _direct(text: str) -> Iterator[tuple[int, bool]]:
    yield from ((match.start(), match["fetched"] is None) for match in _CALLED.finditer(text))
    yield from ((match.start(), True) for match in _ENCODED_COMMAND.finditer(text))


def _piped(text: str) -> Iterator[tuple[int, bool]]:
    """Check each line with a source once."""
    end = 0
    sources: list[tuple[int, bool]] = []
    for match in _SOURCE.finditer(text):
        if match.start() >= end and sources:
            yield from _in_line(text, end, sources)
            sources = []
        if not sources:
            _, end = _line_around(text, match.start())
        sources.append((match.start(), bool(match["decoded"] or match["converted"])))
    if sources:
        yield from _in_line(text, end, sources)


def _in_line(text: str, end: int, sources: list[tuple[int, bool]]) -> Iterator[tuple[int, bool]]:
    begin = text.rfind("\n", 0, sources[0][0]) + 1
    table = text.startswith("|", begin) or text.startswith(" |", begin)
    for pipe in _PIPE.finditer(text, sources[0][0], end):
        if pipe[0] == "||" or (table and text[pipe.start() - 1] != "\\"):
            continue
        if _SINK.match(text, pipe.end(), end):
            yield sources[max(0, bisect_left(sources, (pipe.start(), False)) - 1)]
            return
    for opening in _SUBSTITUTION.finditer(text, begin, end):
        at = bisect_left(sources, (opening.end(), False))
        if at == len(sources) or sources[at][0] > opening.end() + _SUBSTITUTED_CHARS:
            continue
        if not _CLOSED.search(text, opening.end(), sources[at][0] + 1):
            yield opening.start(), sources[at][1]
            return
