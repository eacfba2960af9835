"""Repairs headers whose only error is a colon and a space in a value without quotes.

`description: Use when: somebody asks` is not valid YAML, but people often write it and some clients accept it. This
module adds quotes to such values, line by line. The strict parser then reads the result, with all its limits.
"""

import re
from typing import NamedTuple

from registry.core.format.yaml_positions import split_lines

_ENTRY = re.compile(r"[ ]*(?:-[ ]+)*(?P<key>[\w.-]+)[ \t]*:[ \t]+(?P<value>\S.*)", re.S)
_PLAIN_START = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`]|[-?:](?=\S)")
_COLON = re.compile(r":(?:[ \t]|\s*\Z)")
_COMMENT = re.compile(r"(?<![ \t])[ \t]+#")  # the lookbehind keeps long runs of blanks linear


class Quoted(NamedTuple):
    text: str  # has the same lines; keys keep their line and column
    places: tuple[tuple[int, str], ...]  # 0-based line and key of each quoted value


def quote(header: str) -> Quoted:
    lines = split_lines(header)
    places = []
    index = 0
    while index < len(lines):
        entry = _ENTRY.match(lines[index])
        if entry is None:
            index += 1
            continue
        end = _end_of_value(lines, index, entry.start("key"))
        if _PLAIN_START.match(entry["value"]) and _quote_value(lines, index, end, entry.start("value")):
            places.append((index, entry["key"]))
        index = end
    return Quoted("".join(lines), tuple(places))


def _end_of_value(lines: list[str], start: int, column: int) -> int:
    """Return the line after the last one that is indented deeper than the key."""
    end = index = start + 1
    while index < len(lines):
        text = lines[index].rstrip()
        if text and len(text) - len(text.lstrip(" ")) <= column:
            break
        index += 1
        if text:
            end = index
    return end


def _quote_value(lines: list[str], start: int, end: int, column: int) -> bool:
    parts = [lines[start][column:], *lines[start + 1 : end]]
    comment = _COMMENT.search(parts[0])
    if len(parts) > 1 and (comment or any(_ENTRY.match(part) or _COMMENT.search(" " + part) for part in parts[1:])):
        return False  # a comment ends the value, and `key: value` is more likely a key with wrong indentation
    value = parts[0][: comment.start()] if comment else parts[0].rstrip()
    if not any(_COLON.search(part) for part in (value, *parts[1:])):
        return False
    if len(parts) == 1:
        lines[start] = f"{lines[start][:column]}'{_escape(value)}'{parts[0][len(value) :]}"
        return True
    last = parts[-1].rstrip()
    lines[start] = f"{lines[start][:column]}'{_escape(parts[0])}"
    lines[start + 1 : end] = [_escape(part) for part in parts[1:]]
    lines[end - 1] = f"{_escape(last)}'{parts[-1][len(last) :]}"
    return True


def _escape(text: str) -> str:
    return text.replace("'", "''")
