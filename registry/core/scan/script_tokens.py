"""A bounded tokenizer for JavaScript, PowerShell, Ruby, Perl, PHP and similar languages, and their statements.

It knows strings, comments, names and brackets, and no grammar. A statement has its tokens without the blocks in it.
"""

import re
from dataclasses import dataclass, field
from enum import IntEnum

from registry.core.scan.matches import TooComplex
from registry.lib.patterns import lazy

MOST_CHARS = 200_000
_MOST_TOKENS = 80_000
_MOST_BLOCKS = 100  # open at once
_LONGEST = 400  # tokens of the arguments of a call

_QUOTED = r"'(?:[^'\\\n]|\\.)*+'?|\"(?:[^\"\\\n]|\\.)*+\"?"
_BLOCK_COMMENT = r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?"
_COMMON = r"(?P<number>\d[\w.]*+)|(?P<end>\n)|(?P<blank>[^\S\n]++)"
_COMMON += r"|(?P<sign>=>|::|===?|!==?|[-+.*/:?|&]=|&&|\|\||\?\.|\.\.\.|.)"
_JAVASCRIPT = lazy(
    rf"(?P<comment>//[^\n]*+|{_BLOCK_COMMENT})|(?P<string>{_QUOTED}|`(?:[^`\\]|\\.)*+`?)"
    rf"|(?P<name>[A-Za-z_$][\w$]*+)|{_COMMON}",
    re.DOTALL,
)
_POWERSHELL = lazy(
    r"(?P<comment>\#[^\n]*+|<\#[^#]*+(?:\#(?!>)[^#]*+)*+(?:\#>)?)"
    r"|(?P<string>@'\n(?:(?!\n'@).)*+(?:\n'@)?|@\"\n(?:(?!\n\"@).)*+(?:\n\"@)?|'(?:[^'\n]|'')*+'?|\"(?:[^\"`\n]|`.)*+\"?)"
    rf"|(?P<name>\$(?:env:|script:|global:)?\w++|-?[A-Za-z_](?:[\w]|-(?=\w))*+|[A-Za-z]:\\[\w.\\-]++)|{_COMMON}",
    re.DOTALL | re.IGNORECASE,
)
_OTHER = lazy(
    rf"(?P<comment>\#[^\n]*+|//[^\n]*+|{_BLOCK_COMMENT}|--[^\n]*+)|(?P<string>{_QUOTED}|`(?:[^`\\\n]|\\.)*+`?)"
    rf"|(?P<name>[$@%]?[A-Za-z_]\w*+[?!]?)|{_COMMON}",
    re.DOTALL,
)
_REGEX = lazy(r"/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.){0,80}+\]){1,150}+/[a-z]{0,6}")
_BEFORE_REGEX = frozenset({"=", "(", ",", ":", "[", "!", "&&", "||", "?", "{", "}", ";", "=>", "+", "return", "\n", ""})
_CONTINUES = frozenset({
    "=", "+", ".", ",", "(", "[", "&&", "||", "?", ":", "=>", "|", "-", "*", "?.", "...", "`", "+=", ":=", "==", "===",
    "&",
})  # fmt: skip
_CONTINUED = frozenset({".", "?.", ")", "]", "+", "|", "?", ":", "&&", "||", ","})
_OPENS_BLOCK = frozenset({")", "=>", "else", "do", "try", "finally", ";", "{", "}", "\n", "", "begin", "process"})
_CLOSING = {")": "(", "]": "["}
_STRUCTURE = frozenset("(){}[];")


BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}  # by how much each changes the depth


class Kind(IntEnum):
    NAME = 0
    STRING = 1
    NUMBER = 2
    SIGN = 3


NAME, STRING, NUMBER, SIGN = Kind  # looking up a member of an enumeration is slow
_KINDS = {"name": NAME, "number": NUMBER, "sign": SIGN, "end": SIGN}


@dataclass(slots=True)
class Token:
    """`text` of a string has no quotes. `filled` says that a string may contain variables."""

    kind: Kind
    text: str
    line: int
    filled: bool = False


@dataclass(slots=True)
class Statement:
    tokens: list[Token] = field(default_factory=list)
    function: str = ""  # the function around it
    sources: bool | None = None  # whether it contains a download, a secret or the like, once that is known
    # Statements are read several times, so these are found once.
    code: str = ""
    sends: bool = False
    marks: list[int] = field(default_factory=list)  # tokens that may bind a name
    calls: list[tuple[int, str]] = field(default_factory=list)  # tokens that may run something, and their small letters

    @property
    def line(self) -> int:
        return self.tokens[0].line


def dialect(name: str) -> re.Pattern[str]:
    """Return the pattern for a file by its name."""
    if name.endswith((".ps1", ".psm1", ".psd1")):
        return _POWERSHELL
    scripts = (
        ".js",
        ".mjs",
        ".cjs",
        ".ts",
        ".tsx",
        ".jsx",
        ".mts",
        ".cts",
        ".go",
        ".java",
        ".cs",
        ".kt",
        ".swift",
        ".rs",
    )
    return _JAVASCRIPT if name.endswith(scripts) else _OTHER


def is_javascript(pattern: re.Pattern[str]) -> bool:
    return pattern is _JAVASCRIPT


def is_powershell(pattern: re.Pattern[str]) -> bool:
    return pattern is _POWERSHELL


def statements(text: str, pattern: re.Pattern[str], *, first_line: int = 1) -> list[Statement]:
    """Return the statements in order of their ends. Raise TooComplex for text over a bound."""
    if len(text) > MOST_CHARS:
        raise TooComplex
    return _Reader(pattern).read(_tokens(text, pattern, first_line))


def _tokens(text: str, pattern: re.Pattern[str], line: int) -> list[Token]:
    """Return the tokens, and a sign for each line break."""
    found: list[Token] = []
    at, before = 0, ""
    while at < len(text):
        slash = text[at] == "/" and pattern is _JAVASCRIPT and before in _BEFORE_REGEX
        if slash and (regex := _REGEX.match(text, at)):
            found.append(Token(STRING, "", line))
            at, before = regex.end(), "x"
            continue
        match = pattern.match(text, at)
        if match is None:  # no character is without a token
            break
        kind, part = match.lastgroup or "", match[0]
        at = match.end()
        if kind in _KINDS:
            found.append(Token(_KINDS[kind], part, line))
            before = part
            line += part == "\n"
        elif kind == "string":
            found.append(Token(STRING, _unquoted(part), line, filled=part[0] in '"`' or part[:2] == '@"'))
            before = part
            line += part.count("\n")
        elif kind == "comment":
            line += part.count("\n")
        if len(found) > _MOST_TOKENS:
            raise TooComplex
    return found


def _unquoted(text: str) -> str:
    if text.startswith("@"):
        return text[3:-3]
    return text[1:-1] if len(text) > 1 and text[-1] == text[0] else text[1:]


@dataclass(slots=True)
class _Frame:
    statement: Statement
    opened: list[str]
    function: str


class _Reader:
    """Splits tokens into statements. A block suspends the statement that it is in."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.powershell = is_powershell(pattern)
        self.found: list[Statement] = []
        self.current = Statement()
        self.opened: list[str] = []
        self.frames: list[_Frame] = []
        self.function = ""

    def read(self, tokens: list[Token]) -> list[Statement]:
        before = ""
        for index, token in enumerate(tokens):
            text = token.text if token.kind is SIGN or token.kind is NAME else "x"
            if text == "\n":
                after = tokens[index + 1].text if index + 1 < len(tokens) else ""
                joined = after in _CONTINUED and not (self.powershell and after in (".", "?", ":"))
                if not self.opened and before not in _CONTINUES and not joined:
                    self.finish()
                continue
            if text in _STRUCTURE:
                self.take(token, text, before)
            else:
                self.current.tokens.append(token)
            before = text
        while self.frames:
            self.close()
        self.finish()
        return self.found

    def take(self, token: Token, text: str, before: str) -> None:
        if text == "{" and (
            before != "@" and not self.opened if self.powershell else before in _OPENS_BLOCK or not self.current.tokens
        ):
            self.open()
        elif text == "}" and not (self.opened and self.opened[-1] == "{"):
            self.close()
        elif text == ";" and not self.opened:
            self.finish()
        else:
            if text in ("(", "[", "{"):
                self.opened.append(text)
            elif text in (")", "]", "}") and self.opened and self.opened[-1] == _CLOSING.get(text, "{"):
                self.opened.pop()
            self.current.tokens.append(token)

    def open(self) -> None:
        if len(self.frames) > _MOST_BLOCKS:
            raise TooComplex
        self.frames.append(_Frame(self.current, self.opened, self.function))
        self.function = _function(self.current.tokens) or self.function
        self.current, self.opened = Statement(), []

    def close(self) -> None:
        self.finish()
        if self.frames:
            frame = self.frames.pop()
            self.current, self.opened, self.function = frame.statement, frame.opened, frame.function
            if not self.opened and self.current.tokens and not self.powershell:
                names = [token.text for token in self.current.tokens[:3]]
                if {"if", "for", "while", "function", "else", "try", "foreach"} & set(names):
                    self.finish()

    def finish(self) -> None:
        if self.current.tokens:
            self.current.function = self.function
            self.found.append(self.current)
        self.current, self.opened = Statement(), []


def _function(tokens: list[Token]) -> str:
    """Return the name of the function whose head these tokens are, or an empty string."""
    names = [token.text for token in tokens[:6] if token.kind is NAME]
    if "function" in names[:3]:
        after = names[names.index("function") + 1 :]
        return after[0] if after else ""
    if tokens and tokens[-1].text == "=>" and any(token.text == "=" for token in tokens[:4]):
        return next((name for name in names if name not in ("const", "let", "var", "export", "async")), "")
    return ""


def brackets(tokens: list[Token]) -> dict[int, int]:
    """Return the index of the bracket that closes each opening one, as `closing` finds it, in one pass."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.kind is SIGN and (depth := BRACKETS.get(token.text, 0)):
            if depth > 0:
                opened.append(at)
            elif opened:
                ends[opened.pop()] = at
    return ends


def closing(tokens: list[Token], index: int, *, longest: int = _LONGEST) -> int:
    """Return the index of the bracket that closes the one at the index, or the last index that is read."""
    depth = 0
    last = min(len(tokens), index + longest)
    for at, token in enumerate(tokens[index:last], index):
        if token.kind is SIGN:
            depth += BRACKETS.get(token.text, 0)
            if not depth:
                return at
    return last


def split(tokens: list[Token]) -> list[list[Token]]:
    """Return the arguments that are separated by commas outside brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind is SIGN:
            depth += BRACKETS.get(token.text, 0)
            if token.text == "," and not depth:
                parts.append([])
                continue
        parts[-1].append(token)
    return parts
