"""A bounded lexer for shell scripts: commands, pipelines, redirections, here-documents and substitutions."""

import re
from dataclasses import dataclass, field

from registry.core.scan.matches import TooComplex
from registry.lib.patterns import lazy

MOST_CHARS = 200_000
MOST_COMMANDS = 10_000
MOST_WORDS = 60_000
_DEPTH = 6
_LOOKAHEAD = 10_000  # characters in which a substitution must end
_SEARCHED = 2_000_000  # characters searched for the ends of all substitutions

_BLANK = lazy(r"[ \t]+|\\\r?\n")
_PLAIN = lazy(r"[^\s'\"\\$`|&;<>()#]+|#(?=\S)")
_IN_DOUBLE = lazy(r"[^\"\\$`]+")
_REDIRECT = lazy(r"(\d{0,2}|&)(<<<|<<-?|>>|>&|<&|>\||<>|>|<)(?!\()")
_OPERATOR = lazy(r"\|\||&&|\|&|;;|[|;&()\n]|\r\n")
_HEREDOC_END = lazy(r"[ \t]*([\"']?)([\w.-]{1,80})\1")
_BRACKET = lazy(r"'[^']{0,2000}'|\\.|[()]")
_LINE_BREAK = lazy(r"[ \t]*\r?\n\s*")
_ESCAPES = lazy(r"\\x([0-9a-fA-F]{2})|\\([0-7]{3})|\\([nt])")


@dataclass(slots=True)
class Word:
    """One word without its quotes. `inner` holds the commands of its substitutions."""

    text: str
    quoted: bool = False
    pieces: int = 1  # parts that were glued together, such as c""url
    inner: list["Command"] = field(default_factory=list)


@dataclass(slots=True)
class Redirect:
    operator: str
    target: Word
    body: str = ""  # of a here-document
    line: int = 0
    descriptor: str = ""


@dataclass(slots=True)
class Command:
    line: int
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    source: str = ""
    piped: bool = False  # its input is the output of the command before
    background: bool = False
    function: bool = False  # it opens the definition of a function

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.words]


def commands(text: str, *, line: int = 1, depth: int = 0) -> list[Command]:
    """Return the commands in order. Raise TooComplex for text over a bound."""
    if len(text) > MOST_CHARS or depth > _DEPTH:
        raise TooComplex
    return _Lexer(text, line, depth).run()


class _Lexer:
    def __init__(self, text: str, line: int, depth: int) -> None:
        self.text, self.at, self.depth = text, 0, depth
        self._line, self._counted = line, 0
        self.found: list[Command] = []
        self.current: Command | None = None
        self.start = self.count = self.searched = 0
        self.pending: list[Redirect] = []

    def line(self) -> int:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def run(self) -> list[Command]:
        text = self.text
        while self.at < len(text):
            if blank := _BLANK.match(text, self.at):
                self.at = blank.end()
            elif text[self.at] == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif redirect := _REDIRECT.match(text, self.at):
                self.redirect(redirect)
            elif (operator := _OPERATOR.match(text, self.at)) and text[self.at] != "<":
                self.operator(operator)
            else:
                self.add_word()
        self.finish()
        return self.found

    def open_command(self) -> Command:
        if self.current is None:
            self.current = Command(self.line())
            self.start = self.at
        return self.current

    def add_word(self) -> None:
        command = self.open_command()
        command.words.append(self.word())
        self.count += 1
        if self.count > MOST_WORDS:
            raise TooComplex

    def finish(self, *, piped: bool = False, background: bool = False) -> None:
        if self.current is not None:
            self.current.source = self.text[self.start : self.at].strip()
            self.current.background = background
            self.found.append(self.current)
            if len(self.found) > MOST_COMMANDS:
                raise TooComplex
        self.current = None
        if piped:
            self.current = Command(self.line(), piped=True)
            self.start = self.at

    def operator(self, operator: re.Match[str]) -> None:
        sign = operator[0]
        if sign in ("|", "|&"):
            had = self.current is not None or bool(self.found)
            self.finish()
            self.at = operator.end()
            after = _LINE_BREAK.match(self.text, self.at)
            self.at = after.end() if after else self.at
            self.finish(piped=had)
            return
        if sign == "(" and self.current and len(self.current.words) <= 2:
            self.current.function = self.text[operator.end() : operator.end() + 1] == ")"
        self.finish(background=sign == "&")
        self.at = operator.end()
        if sign.endswith("\n") and self.pending:
            self.heredocs()

    def redirect(self, match: re.Match[str]) -> None:
        command = self.open_command()
        line = self.line()
        self.at = match.end()
        operator = match[2]
        if operator in ("<<", "<<-"):
            end = _HEREDOC_END.match(self.text, self.at)
            if end:
                self.at = end.end()
                redirect = Redirect(operator, Word(end[2]), line=line)
                command.redirects.append(redirect)
                self.pending.append(redirect)
            return
        if blank := _BLANK.match(self.text, self.at):
            self.at = blank.end()
        name = ("&" if match[1] == "&" else "") + operator
        command.redirects.append(Redirect(name, self.word(), line=line, descriptor=match[1]))

    def heredocs(self) -> None:
        for redirect in self.pending:
            end = lazy(rf"^[ \t]*{re.escape(redirect.target.text)}[ \t]*\r?$", re.MULTILINE).search(self.text, self.at)
            redirect.line = self.line()
            redirect.body = self.text[self.at : end.start() if end else len(self.text)]
            self.at = end.end() if end else len(self.text)
        self.pending = []

    def word(self) -> Word:
        word, parts = Word(""), []
        begin = self.at
        while self.at < len(self.text):
            piece = self.piece(word)
            if piece is None:
                break
            parts.append(piece)
        if self.at == begin:  # a character that starts no word
            self.at += 1
        word.text = "".join(parts)
        word.pieces = len(parts)
        return word

    def piece(self, word: Word) -> str | None:
        text, at = self.text, self.at
        if plain := _PLAIN.match(text, at):
            self.at = plain.end()
            return plain[0]
        character = text[at]
        if character == "'":
            end = text.find("'", at + 1)
            end = len(text) if end < 0 else end
            self.at, word.quoted = end + 1, True
            return text[at + 1 : end]
        if character == '"':
            word.quoted = True
            return self.double(word)
        if character == "\\":
            self.at = at + 2
            return "" if text[at + 1 : at + 2] in ("\n", "") else text[at + 1]
        if character in "$`" or text.startswith(("<(", ">("), at):
            return self.substitution(word)
        if character == "#" and at and not text[at - 1].isspace():
            self.at = at + 1
            return "#"
        return None

    def double(self, word: Word) -> str:
        self.at += 1
        parts = []
        while self.at < len(self.text) and self.text[self.at] != '"':
            if plain := _IN_DOUBLE.match(self.text, self.at):
                parts.append(plain[0])
                self.at = plain.end()
            elif self.text[self.at] == "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                parts.append(escaped if escaped in '"$`\\' else "" if escaped == "\n" else f"\\{escaped}")
                self.at += 2
            else:
                parts.append(self.substitution(word))
        self.at += 1
        return "".join(parts)

    def substitution(self, word: Word) -> str:
        """Read `$(…)`, `<(…)` or a back-quoted command; other signs are returned as they are."""
        text, at = self.text, self.at
        if text[at] == "`":
            end = text.find("`", at + 1, at + _LOOKAHEAD)
            inner, after = text[at + 1 : end], end + 1
        elif text.startswith(("$(", "<(", ">("), at) and not text.startswith("$((", at):
            end = self.closing(at + 2)
            inner, after = text[at + 2 : end], end + 1
        else:
            self.at = at + 1
            if text.startswith("$'", at):  # C-style quotes
                end = text.find("'", at + 2)
                self.at = len(text) if end < 0 else end + 1
                return unescape(text[at + 2 : self.at - 1])
            return text[at]
        if end < 0:
            self.at = at + 1
            return text[at]
        word.inner += commands(inner, line=self.line(), depth=self.depth + 1)
        self.at = after
        return text[at:after]

    def closing(self, at: int) -> int:
        """Return the offset of the closing bracket, or -1."""
        depth = 1
        self.searched += min(_LOOKAHEAD, len(self.text) - at)
        if self.searched > _SEARCHED:
            raise TooComplex
        for match in _BRACKET.finditer(self.text, at, at + _LOOKAHEAD):
            if match[0] == "(":
                depth += 1
            elif match[0] == ")":
                depth -= 1
                if not depth:
                    return match.start()
        return -1


def unescape(text: str) -> str:
    """Replace the escapes of printf, such as `\\x41`."""
    return _ESCAPES.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    if match[3]:
        return {"n": "\n", "t": "\t"}[match[3]]
    return chr(int(match[1], 16) if match[1] else int(match[2], 8))
