"""Expressions of workflows, such as `vars.score >= 0.8 and inputs.kind in ['a', 'b']`.

    or < and < not < == != < <= > >= in, not in < value

A value is a reference, text in quotes, a number, true, false, null (also none), a list in brackets, an expression in
parentheses, `len(value)` or `lower(value)`. As in Python, `and` and `or` return one of their operands, and evaluate the
second one only if the first does not decide. Comparisons cannot be chained.

A reference that cannot be read is null. Comparisons never fail because of a type: see `comparisons.py`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from registry.core.workflows import comparisons, copies
from registry.core.workflows.expression_nodes import (
    FUNCTIONS,
    Call,
    Choice,
    Comparison,
    Constant,
    List,
    Node,
    Reference,
    Scope,
    Truth,
    truthy,
)
from registry.core.workflows.expression_tokens import (
    CONSTANT,
    END,
    FUNCTION,
    KEYWORDS,
    REFERENCE,
    ExpressionError,
    Token,
    quote,
    tokens,
)
from registry.core.workflows.references import Path, Read
from registry.core.workflows.values import Json

__all__ = ["KEYWORDS", "MOST_CHARACTERS", "MOST_DEPTH", "Expression", "ExpressionError", "parse", "truthy"]

MOST_CHARACTERS = 2_000
MOST_DEPTH = 50  # of parentheses, lists and functions in each other

_COMPARISONS = ("==", "!=", "in", *comparisons.ORDERS)
_NO_VALUES: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression. `references` has the paths that it may read, in order and each once."""

    text: str
    references: tuple[Path, ...]
    root: Node

    def evaluate(
        self, read: Read, local_values: Mapping[str, Json] = _NO_VALUES, spend: Callable[[int], None] | None = None
    ) -> Json:
        """Return the value, or raise ExpressionError if the values that it reads are too large.

        `spend` gets the number of values that were compared and copied.
        """
        work, copier = comparisons.Work(), copies.Copier()
        try:
            return copier.copy(self.root.evaluate(Scope(read, local_values, work)))
        except (comparisons.TooMuchWork, copies.CopyTooLarge) as error:
            raise ExpressionError(str(error)) from error
        finally:
            if spend is not None:
                spend(work.spent + copier.work)


def parse(text: str, local_names: Collection[str] = ()) -> Expression:
    """Return the expression, or raise ExpressionError with the column and a fix."""
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(
            f"The expression has {len(text):,} characters. {MOST_CHARACTERS:,} are allowed. Compute a part of it in a"
            " step before, and refer to the result."
        )
    return _parse(text, frozenset(local_names))


@lru_cache(maxsize=256)  # a condition is evaluated many times
def _parse(text: str, local_names: frozenset[str]) -> Expression:
    parser = _Parser(list(tokens(text, local_names)))
    return Expression(text, parser.references, parser.expression())


class _Parser:
    """A recursive descent, with a limit of the depth that keeps the stack small."""

    def __init__(self, tokens_: list[Token]) -> None:
        self.references: tuple[Path, ...] = tuple(
            dict.fromkeys(token.value for token in tokens_ if token.kind == REFERENCE)
        )
        self._tokens = tokens_
        self._position = 0
        self._depth = 0

    def expression(self) -> Node:
        """Return the node of all tokens."""
        if self._token.kind == END:
            raise ExpressionError("The expression is empty. Write a condition such as vars.total > 3.", 1)
        node = self._or()
        self._expect(END)
        return node

    @property
    def _token(self) -> Token:
        return self._tokens[self._position]

    def _accept(self, *kinds: str) -> Token | None:
        """Return the current token and go on to the next one, if it is of one of the kinds."""
        token = self._token
        if token.kind not in kinds:
            return None
        self._position = min(self._position + 1, len(self._tokens) - 1)
        return token

    def _expect(self, kind: str) -> None:
        if self._accept(kind):
            return
        token = self._token
        if token.kind == END:
            raise ExpressionError(f"{quote(kind)} is missing at the end.", token.column)
        fix = "Write an operator before it, such as and, or, == or in."
        if token.text.startswith("-"):
            fix = "Expressions compare values, they do not calculate."
        elif kind != END:
            fix = f"Write an operator such as and, or, == or in, or {quote(kind)}."
        raise ExpressionError(f"{token} is not expected here. {fix}", token.column)

    def _or(self) -> Node:
        return self._choice("or", self._and)

    def _and(self) -> Node:
        return self._choice("and", self._not)

    def _choice(self, operator: str, operand: Callable[[], Node]) -> Node:
        operands = [operand()]
        while self._accept(operator):
            operands.append(operand())
        return operands[0] if len(operands) == 1 else Choice(operator == "or", tuple(operands))

    def _not(self) -> Node:
        negations = 0
        while self._accept("not"):
            negations += 1
        operand = self._comparison()
        return Truth(operand, negations % 2 == 0) if negations else operand

    def _comparison(self) -> Node:
        left = self._value()
        operator = self._operator()
        if operator is None:
            return left
        node = Comparison(left, operator, self._value())
        column = self._token.column
        if chained := self._operator():
            raise ExpressionError(
                f"“{chained}” follows another comparison. Join them with and, as in 0 < a and a < 9.", column
            )
        return node

    def _operator(self) -> str | None:
        """Return the operator of a comparison, and go on."""
        if self._token.kind == "not" and self._tokens[self._position + 1].kind == "in":
            self._position += 2
            return "not in"
        token = self._accept(*_COMPARISONS)
        return token.kind if token else None

    def _value(self) -> Node:
        token = self._token
        if self._accept(CONSTANT):
            return Constant(token.value)
        if self._accept(REFERENCE):
            return Reference(token.value)
        if self._accept("(", "[", FUNCTION):
            return self._nested(token)
        fix = "Put it in parentheses." if token.kind == "not" else "Write a reference, a number, or text in quotes."
        raise ExpressionError(f"A value is missing before {token}. {fix}", token.column)

    def _nested(self, opening: Token) -> Node:
        """Return what is in parentheses or brackets, or the call of a function."""
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise ExpressionError(f"More than {MOST_DEPTH} parentheses or brackets are open here.", opening.column)
        match opening.kind:
            case "(":
                node = self._or()
                self._expect(")")
            case "[":
                node = self._list()
            case _:
                node = self._call(opening)
        self._depth -= 1
        return node

    def _list(self) -> Node:
        items: list[Node] = []
        if self._accept("]"):
            return List(())
        items.append(self._or())
        while self._accept(","):
            items.append(self._or())
        self._expect("]")
        return List(tuple(items))

    def _call(self, name: Token) -> Node:
        function = FUNCTIONS.get(name.text)
        if function is None:
            known = ", ".join(FUNCTIONS)
            raise ExpressionError(f"{name} is not a function. The functions are {known}.", name.column)
        self._expect("(")
        node = Call(function, self._or())
        if self._token.kind == ",":
            raise ExpressionError(f"{name} takes one value.", self._token.column)
        self._expect(")")
        return node
