"""Arithmetic in text, such as `(price + shipping) * 1.19`. There is no eval: the grammar is below.

sum     = product (("+" | "-") product)*
product = factor (("*" | "/") factor)*
factor  = "-" factor | "+" factor | "(" sum ")" | number | name
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow

from registry.core.workflows.builtins import json_paths
from registry.core.workflows.builtins.decimals import CONTEXT, decimal
from registry.core.workflows.builtins.definition import refuse
from registry.core.workflows.values import NUMBER, Json, fits, type_of

MOST_CHARS = 2_000
MOST_DEPTH = 50

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]{1,100}(?:\.[0-9]{1,100})?)(?![\w.])|(?P<name>[^\W\d]\w*(?:\.\w+)*)|(?P<sign>[-+*/()]))",
)
_OPERATIONS: Mapping[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": CONTEXT.add,
    "-": CONTEXT.subtract,
    "*": CONTEXT.multiply,
    "/": CONTEXT.divide,
}


def calculate(text: str, variables: dict[str, Json]) -> Decimal:
    """Return the value of an expression. Names are paths into the variables, which must be numbers."""
    if len(text) > MOST_CHARS:
        raise refuse(f"The calculation has {len(text):,} characters, and {MOST_CHARS:,} are allowed.")
    reader = _Reader(_tokens(text), variables)
    try:
        result = reader.sum(0)
    except DivisionByZero:
        raise refuse("The calculation divides by zero.") from None
    except InvalidOperation:
        raise refuse("The calculation has no result: it divides zero by zero.") from None
    except Overflow:
        raise refuse("The result of the calculation is too large.") from None
    if reader.tokens:
        raise refuse(f"The calculation cannot be read from “{json_paths.shown(reader.tokens[-1])}” on.")
    return result


def _tokens(text: str) -> list[str]:
    """Return the tokens, the last one first."""
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise refuse(f"The calculation cannot be read at “{json_paths.shown(text[at:].strip())}”.")
        tokens.append(match[0].strip())
        at = match.end()
    return tokens[::-1]


class _Reader:
    """Evaluates tokens from the end of the list."""

    def __init__(self, tokens: list[str], variables: dict[str, Json]) -> None:
        self.tokens = tokens
        self._variables = variables

    def sum(self, depth: int) -> Decimal:
        result = self._product(depth)
        while sign := self._take("+-"):
            result = _OPERATIONS[sign](result, self._product(depth))
        return result

    def _product(self, depth: int) -> Decimal:
        result = self._factor(depth)
        while sign := self._take("*/"):
            result = _OPERATIONS[sign](result, self._factor(depth))
        return result

    def _factor(self, depth: int) -> Decimal:
        if depth > MOST_DEPTH:
            raise refuse(f"The calculation has more than {MOST_DEPTH} signs or parentheses inside each other.")
        if sign := self._take("+-("):
            if sign != "(":
                factor = self._factor(depth + 1)
                return CONTEXT.minus(factor) if sign == "-" else factor
            result = self.sum(depth + 1)
            if not self._take(")"):
                raise refuse("The calculation has a “(” without “)”.")
            return result
        if not self.tokens:
            raise refuse("The calculation ends where a number or a name should be.")
        token = self.tokens.pop()
        if token[0] in "*/)":
            raise refuse(f"The calculation has “{token}” where a number or a name should be.")
        return CONTEXT.create_decimal(token) if token[0] in "0123456789" else self._variable(token)

    def _variable(self, name: str) -> Decimal:
        try:
            value = json_paths.read(self._variables, json_paths.segments(name))
        except json_paths.Missing:
            raise refuse(f"The calculation uses “{json_paths.shown(name)}”, but there is no such variable.") from None
        if not fits(value, NUMBER):
            raise refuse(f"“{json_paths.shown(name)}” must be a number, but it is of type {type_of(value)}.")
        return decimal(value)

    def _take(self, signs: str) -> str:
        return self.tokens.pop() if self.tokens and self.tokens[-1] in signs else ""
