"""Constant texts that a script puts together from pieces, such as `'ev' + 'al'` or `['e', 'val'].join('')`."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass

from registry.core.scan.script_tokens import NAME, NUMBER, STRING, Token

MOST_TOKENS = 80
_MOST_CHARS = 2_000
_DEPTH = 8
_FILLED = re.compile(r"\$\{?\(?([A-Za-z_]\w{0,60})\)?\}?")
_Value = str | list[str]


@dataclass(slots=True)
class Folded:
    """`built` says that the text could have been written out."""

    text: str
    built: bool


def fold(tokens: list[Token], texts: Mapping[str, str]) -> Folded | None:
    """Return the text of an expression of constants, or None."""
    if not tokens or len(tokens) > MOST_TOKENS:
        return None
    parser = _Parser(tokens, texts)
    value = parser.sum(0)
    if parser.at < len(tokens) or not isinstance(value, str):
        return None
    return Folded(value[:_MOST_CHARS], parser.pieces > 1)


class _Parser:
    def __init__(self, tokens: list[Token], texts: Mapping[str, str]) -> None:
        self.tokens, self.texts = tokens, texts
        self.at = self.pieces = 0

    def peek(self, ahead: int = 0) -> str:
        index = self.at + ahead
        return self.tokens[index].text.lower() if index < len(self.tokens) else ""

    def take(self, *texts: str) -> bool:
        """Take these tokens if they are next."""
        if any(self.peek(index) != text for index, text in enumerate(texts)):
            return False
        self.at += len(texts)
        return True

    def sum(self, depth: int) -> _Value | None:
        left = self.term(depth)
        while left is not None and self.peek() in ("+", ".", "-f"):
            sign = self.peek()
            if sign == "." and not (self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].kind is STRING):
                return left
            self.at += 1
            right = self.items(depth) if sign == "-f" else self.term(depth)
            if sign == "-f" and isinstance(left, str) and isinstance(right, list):
                for index, part in enumerate(right[:10]):
                    left = left.replace(f"{{{index}}}", part)
            elif isinstance(left, str) and isinstance(right, str):
                left += right
            else:
                return None
        return left

    def items(self, depth: int, end: str = "") -> list[str] | None:
        """Return texts that are separated by commas."""
        found: list[str] = []
        while self.at < len(self.tokens) and (not end or self.peek() != end):
            value = self.sum(depth + 1)
            if not isinstance(value, str):
                return None
            found.append(value)
            if not self.take(","):
                break
        return found if not end or self.take(end) else None

    def term(self, depth: int) -> _Value | None:
        if depth > _DEPTH or self.at >= len(self.tokens):
            return None
        value = self.first(depth + 1)
        while value is not None and self.peek() in (".", "?.") and self.peek(2) == "(":
            value = self.method(value, depth)
        return value

    def first(self, depth: int) -> _Value | None:
        token = self.tokens[self.at]
        if token.kind is STRING:
            self.at += 1
            self.pieces += 1
            return _filled(token, self.texts)
        if self.take("-join"):
            self.pieces += 1
            value = self.term(depth)
            return "".join(value) if isinstance(value, list) else value
        if self.take("[", "char", "]"):
            return self.number()
        if self.take("@", "(") or self.take("("):
            values = self.items(depth, ")")
            return values[0] if values is not None and len(values) == 1 else values
        if self.take("["):
            return self.items(depth, "]")
        return self.call(depth)

    def call(self, depth: int) -> _Value | None:
        if self.take("string", ".", "fromcharcode", "("):
            codes: list[str] = []
            while (code := self.number()) is not None:
                codes.append(code)
                self.take(",")
            return "".join(codes) if self.take(")") else None
        if self.take("atob", "(") or self.take("buffer", ".", "from", "("):
            values = self.items(depth, ")")
            return _decoded(values) if values else None
        token = self.tokens[self.at]
        text = self.texts.get(token.text.lstrip("$").lower()) if token.kind is NAME else None
        if text is not None:
            self.at += 1
            self.pieces += 1
        return text

    def number(self) -> str | None:
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if token is None or token.kind is not NUMBER:
            return None
        try:
            code = int(token.text, 0)
        except ValueError:
            return None
        self.at += 1
        self.pieces += 1
        return chr(code) if 0 <= code < 0x110000 else None

    def method(self, value: _Value, depth: int) -> _Value | None:
        name = self.peek(1)
        self.at += 3
        given = self.items(depth, ")")
        if given is None:
            return None
        if name == "join" and isinstance(value, list):
            self.pieces += 1
            return (given[0] if given else ",").join(value)
        if name == "reverse":
            return value[::-1]
        if isinstance(value, str):
            if name == "split" and given:
                return value.split(given[0]) if given[0] else list(value)
            if name == "replace" and len(given) == 2:
                return value.replace(given[0], given[1])
            if name in ("tostring", "tolowercase", "trim", "to_s", "to_sym", "concat"):
                return value + "".join(given if name == "concat" else [])
        return None


def _filled(token: Token, texts: Mapping[str, str]) -> str | None:
    """Return the text of a string with its variables filled in, or None if one is not constant."""
    if not token.filled or "$" not in token.text:
        return token.text
    parts = [texts.get(name.lower()) for name in _FILLED.findall(token.text)]
    if None in parts or not parts:
        return None
    return _FILLED.sub(lambda match: texts[match[1].lower()], token.text)


def _decoded(values: list[str]) -> str | None:
    try:
        if values[1:2] == ["hex"]:
            return bytes.fromhex(values[0]).decode("latin-1")
        return base64.b64decode(values[0]).decode("latin-1")
    except (ValueError, binascii.Error):
        return None
