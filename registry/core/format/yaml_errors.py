"""YAML syntax errors as messages for the author."""

import yaml

from registry.core.errors import InvalidSkill
from registry.core.findings import Finding, Severity

COLON = "yaml-colon"
SYNTAX = "yaml-syntax"

# Part of the message of PyYAML, rule, message and fix for the author.
_PROBLEMS = (
    ("mapping values are not allowed", COLON, "A value contains a colon and a space, but has no quotes.",
     "Put the whole value in double quotes."),
    (r"character '\t'", SYNTAX, "This line uses a tab. Only spaces are allowed here.", "Indent with spaces."),
    ("cannot start any token", SYNTAX, "A value starts with a special character.",
     "Put the whole value in double quotes."),
    ("could not find expected ':'", SYNTAX, "This line is neither `key: value` nor part of a value.",
     "Write it as `key: value`, or indent it below its key."),
    ("expected <block end>", SYNTAX, "This line does not fit the lines above it.",
     "Indent it like the keys above, and close every quote at the end of its value."),
    ("found unexpected end of stream", SYNTAX, "A quote is opened here and never closed.",
     "Close the quote at the end of the value."),
    ("out of range", SYNTAX, "An escape sequence stands for a character that does not exist.",
     "Type the character itself."),
    ("unknown escape character", SYNTAX, "A backslash in double quotes is followed by an unknown character.",
     "Write `\\\\` for one backslash."),
)  # fmt: skip


def invalid_skill(rule: str, file: str, line: int | None, message: str, fix: str) -> InvalidSkill:
    place = f"{file}, line {line}" if line else file
    return InvalidSkill(f"{place}: {message} {fix}", findings=[Finding(rule, Severity.ERROR, file, line, message, fix)])


def syntax_error(error: yaml.MarkedYAMLError, file: str, first_line: int, last_line: int) -> InvalidSkill:
    """Return the error for a YAML syntax error. `last_line` is used if PyYAML names no line."""
    problem = error.problem or ""
    mark = error.problem_mark or error.context_mark
    if "end of stream" in problem and error.context_mark:
        mark = error.context_mark  # the start of the quote is more helpful than the end of the text
    line = first_line + (mark.line if mark else last_line)
    for part, rule, message, fix in _PROBLEMS:
        if part in problem:
            return invalid_skill(rule, file, line, message, fix)
    return invalid_skill(
        SYNTAX,
        file,
        line,
        f"This line is not valid YAML: {clip(problem)}.",
        "Put text in double quotes, and write one `key: value` per line.",
    )


def clip(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
