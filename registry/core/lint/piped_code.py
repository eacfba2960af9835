"""Finds where a text has code run that nobody can have read: a download or something encoded, fed to an interpreter.

It looks at one command at a time. A file that is fetched by one command and run by another is not found here.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """One line that runs what it fetched or decoded; `text` is as much of it as is worth showing."""

    offset: int
    text: str
    decoded: bool


# Patterns ask for a first letter before anything else, which makes the search several times as fast.
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
# A shell that is given a file or `-c`, and a language that is given any program, take what is piped as data.
_SINK = re.compile(
    rf"[ \t]*{_BEFORE}(?:(?:{_SHELL})(?![\w-]|\.\w)(?![ \t]+(?:-[a-z]{{0,8}}c\b|[\"']|[^\s|`<>;&-]{{0,100}}?[./$]\w))"
    rf"|(?:{_LANGUAGE})(?![\w.])[ \t]*(?:-(?![\w-])|$|[`\"')}};&|<>\\]))",
    re.IGNORECASE,
)
_PIPE = re.compile(r"\|{1,2}")
# What opens a command of its own whose output is run, or read as a script.
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
# A backslash at the end of a line, or a pipe that does not end a row of a table, goes on in the next line.
_GOES_ON = re.compile(r"\\\r?\n|(?<=[^|\s])[ \t]?\|[ \t]{0,20}\r?\n(?![ \t]{0,20}\|)")
_SHOWN_CHARS = 60


def find(text: str) -> Iterator[Run]:
    """In reading order, one for each line."""
    joined = _GOES_ON.sub(_on_one_line, text)
    places = sorted([*_piped(joined), *_direct(joined)])
    said = 0
    for start, decoded in places:
        if start >= said:
            begin, said = _line_around(joined, start)
            shown = joined[max(begin, start - _SHOWN_CHARS) : min(said, start + _SHOWN_CHARS)]
            yield Run(start, shown.strip(), decoded)


def _line_around(text: str, start: int) -> tuple[int, int]:
    end = text.find("\n", start)
    return text.rfind("\n", 0, start) + 1, end if end >= 0 else len(text)


def _on_one_line(match: re.Match[str]) -> str:
    """As long as before, so that a place in the one text is the same place in the other."""
    return match[0].replace("\\", " ").replace("\r", " ").replace("\n", " ")


def _direct(text: str) -> Iterator[tuple[int, bool]]:
    yield from ((match.start(), match["fetched"] is None) for match in _CALLED.finditer(text))
    yield from ((match.start(), True) for match in _ENCODED_COMMAND.finditer(text))


def _piped(text: str) -> Iterator[tuple[int, bool]]:
    """Only lines with a source are looked at, and each of them once."""
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
