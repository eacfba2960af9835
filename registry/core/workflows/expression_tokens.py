"""Tokens of expressions. Every character belongs to a token or to white space, or is an error."""

import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from registry.core.text.shorten import shorten
from registry.core.workflows import references
from registry.core.workflows.values import Json

CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
OPERATORS = ("or", "and", "not", "in")
KEYWORDS = frozenset({*CONSTANTS, *OPERATORS})

# Kinds of tokens. Those of operators and punctuation are their own text.
CONSTANT, REFERENCE, FUNCTION, END = "constant", "reference", "function", "end"

_TOKEN = re.compile(
    rf"(?P<space>[ \t\r\n]+)|(?P<text>{references.QUOTED})|(?P<number>-?[0-9](?:[eE][+-]|[0-9A-Za-z_.])*)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_-]*)|(?P<operator>==|!=|<=|>=|[<>()\[\],])",
    re.DOTALL,
)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?(?P<exponent>[eE][+-]?[0-9]+)?")
_CALL = re.compile(r"[ \t\r\n]*\(")
_WRONG_ESCAPE = re.compile(r"""(['"])(?:(?!\1)[^\\]|\\[\\'"nrt])*(?P<escape>\\(?![\\'"nrt]).)""", re.DOTALL)
_FIXES = {
    "=": "Write == to compare.",
    "!": "Write != to compare, or the word not.",
    "&": "Write the word and.",
    "|": "Write the word or.",
    ".": "Write a reference such as vars.total, or a number such as 0.5.",
    "-": "A minus sign must be directly before the digits of a number, as in -1.",
    **dict.fromkeys("+*/%^", "Expressions compare values, they do not calculate."),
    **dict.fromkeys("{}$", "Write a reference without other characters, such as vars.total."),
    **dict.fromkeys("“”‘’„«»´`", "Write text in straight quotes, such as 'high'."),
}


class ExpressionError(Exception):
    """An expression cannot be parsed or evaluated. `column` counts from 1, and is 0 for an error of its evaluation."""

    def __init__(self, message: str, column: int = 0) -> None:
        super().__init__(f"Column {column}: {message}" if column else message)
        self.message = message
        self.column = column


@dataclass(frozen=True, slots=True)
class Token:
    """`value` is that of a constant, or the path of a reference."""

    kind: str
    text: str
    column: int
    value: Json = None

    def __str__(self) -> str:
        return "the end" if self.kind == END else quote(self.text)


def tokens(text: str, local_names: Collection[str] = ()) -> Iterator[Token]:
    """Yield the tokens of an expression and one for its end, or raise ExpressionError."""
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _unknown(text, position)
        position = match.end()
        if match.lastgroup == "word":
            token = _word(text, match, local_names)
            position = match.start() + len(token.text)
            yield token
        elif match.lastgroup == "text":
            yield Token(CONSTANT, match[0], match.start() + 1, references.unquote(match[0]))
        elif match.lastgroup == "number":
            yield Token(CONSTANT, match[0], match.start() + 1, _number(match[0], match.start() + 1))
        elif match.lastgroup == "operator":
            yield Token(match[0], match[0], match.start() + 1)
    yield Token(END, "", len(text) + 1)


def quote(text: str) -> str:
    """Return a part of an expression for a message. Characters without a picture become their code points."""
    shown = "".join(character if character.isprintable() else f"U+{ord(character):04X}" for character in text[:100])
    return f"“{shorten(shown, 40)}”"


def _number(text: str, column: int) -> int | float:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ExpressionError(f"{quote(text)} is not a number. Write numbers such as 5, -1, 0.5 or 1e3.", column)
    if match["fraction"] is None and match["exponent"] is None:
        return int(text)
    number = float(text)
    if math.isinf(number):
        raise ExpressionError(f"The number {quote(text)} is too large. The largest is about 1.8e308.", column)
    return number


def _word(text: str, match: re.Match[str], local_names: Collection[str]) -> Token:
    word, column = match[0], match.start() + 1
    if word in OPERATORS:
        return Token(word, word, column)
    if word in CONSTANTS:
        return Token(CONSTANT, word, column, CONSTANTS[word])
    if _CALL.match(text, match.end()):
        return Token(FUNCTION, word, column)
    if word not in references.NAMESPACES and word not in local_names:
        raise _unknown_name(word, column, local_names)
    return _reference(text, match, local_names)


def _reference(text: str, match: re.Match[str], local_names: Collection[str]) -> Token:
    root, column = match[0], match.start() + 1
    reference = references.REFERENCE.match(text, match.start())
    found = reference[0] if reference else root
    following = text[match.start() + len(found) :][:1]
    if following.isalnum() or (following and following in "._-[*"):
        fix = f"Write a name, an index, or quoted text in brackets: {root}.name, {root}.0, {root}['a name']."
        raise ExpressionError(f"{quote(found)} cannot go on with {quote(following)}. {fix}", column + len(found))
    path = references.parse(found, local_names)
    if path is not None:
        return Token(REFERENCE, found, column, path)
    if found == root:
        fix = f"Write {root}.NAME for one of its values, or {root}.* for all of them."
        raise ExpressionError(f"“{root}” alone is not a reference. {fix}", column)
    raise ExpressionError(f"A reference has at most {references.MOST_CHARACTERS:,} characters.", column)


def _unknown_name(word: str, column: int, local_names: Collection[str]) -> ExpressionError:
    if word.lower() in KEYWORDS:
        return ExpressionError(f"{quote(word)} is unknown. Write {word.lower()} in small letters.", column)
    known = ", ".join((*sorted(local_names), *references.NAMESPACES))
    return ExpressionError(
        f"{quote(word)} is unknown. Write text in quotes, such as 'high'. References start with one of {known}.",
        column,
    )


def _unknown(text: str, position: int) -> ExpressionError:
    """Return the error for a character that starts no token."""
    character, column = text[position], position + 1
    if character in "'\"":
        wrong = _WRONG_ESCAPE.match(text, position)
        if wrong:
            escape = quote(wrong["escape"])
            fix = r"Write \\ for a backslash."
            return ExpressionError(f"{escape} is not an escape. {fix}", wrong.start("escape") + 1)
        return ExpressionError(f"The text that starts here has no end. Close it with {character} at its end.", column)
    fix = _FIXES.get(character, "Write text in quotes, such as 'high'.")
    return ExpressionError(f"{quote(character)} cannot be used here. {fix}", column)
