"""What is wrong with a YAML text, in words for the person who wrote it."""

import yaml

from registry.core.errors import InvalidSkill
from registry.core.findings import Finding, Severity

COLON = "yaml-colon"
SYNTAX = "yaml-syntax"

# What the scanner or parser says, and what that means to the person who wrote the file.
_PROBLEMS = (
    ("mapping values are not allowed", COLON, "A value holds a colon and a space outside quotes.",
     "Put the whole value in double quotes."),
    (r"character '\t'", SYNTAX, "A tab stands where YAML takes only spaces.", "Indent with spaces."),
    ("cannot start any token", SYNTAX, "A value starts with a character that YAML keeps for itself.",
     "Put the whole value in double quotes."),
    ("could not find expected ':'", SYNTAX, "This line is neither `key: value` nor part of a value.",
     "Write it as `key: value`, or indent it below the key it belongs to."),
    ("expected <block end>", SYNTAX, "This does not fit the lines above it.",
     "Line its indentation up with the keys above, and close every quote at the end of its value."),
    ("found unexpected end of stream", SYNTAX, "A quote is opened here and never closed.",
     "Close the quote at the end of the value."),
    ("out of range", SYNTAX, "An escape names a character that does not exist.",
     "Write the character itself."),
    ("unknown escape character", SYNTAX, "A backslash in double quotes starts no known escape.",
     "Write `\\\\` for one backslash."),
)  # fmt: skip


def refused(rule: str, file: str, line: int | None, message: str, fix: str) -> InvalidSkill:
    place = f"{file}, line {line}" if line else file
    return InvalidSkill(f"{place}: {message} {fix}", findings=[Finding(rule, Severity.ERROR, file, line, message, fix)])


def unreadable(error: yaml.MarkedYAMLError, file: str, first_line: int, last_seen: int) -> InvalidSkill:
    """The refusal for what the scanner or parser stumbled over; `last_seen` serves where it names no line."""
    problem = error.problem or ""
    mark = error.problem_mark or error.context_mark
    if "end of stream" in problem and error.context_mark:
        mark = error.context_mark  # where the quote was opened helps, where the text ended does not
    line = first_line + (mark.line if mark else last_seen)
    for part, rule, message, fix in _PROBLEMS:
        if part in problem:
            return refused(rule, file, line, message, fix)
    return refused(
        SYNTAX,
        file,
        line,
        f"YAML cannot be read here: {clipped(problem)}.",
        "Put text values in double quotes, and write one `key: value` a line.",
    )


def clipped(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
