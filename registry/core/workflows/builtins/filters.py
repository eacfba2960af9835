"""The built-in capability that filters lists with an expression."""

from registry.core.workflows import expressions
from registry.core.workflows.builtins.definition import Inputs, define, refuse
from registry.core.workflows.builtins.lists import check_count
from registry.core.workflows.comparisons import TooMuchWork, Work
from registry.core.workflows.expression_nodes import Scope, truthy
from registry.core.workflows.references import Path
from registry.core.workflows.values import Json

MOST_CHARS = 1_000_000  # of the expression, times the items
_NAMES = ("item", "index", "variables")


def _filter(given: Inputs) -> dict[str, Json]:
    items, where = given["items"], given["where"]
    check_count(items)
    if len(items) * len(where) > MOST_CHARS:
        raise refuse(
            "The expression is too long for this many items. Use a shorter one, or work on a part of the list."
        )
    try:
        expression = expressions.parse(where, _NAMES)
        if outside := next((path for path in expression.references if path[0] not in _NAMES), None):
            raise refuse(
                f"“where” reads {outside[0]}, but can only read item, index and variables. Pass it in “variables”."
            )
        work = Work()
        kept = []
        for index, item in enumerate(items):
            local_values = {"item": item, "index": index, "variables": given["variables"]}
            if truthy(expression.root.evaluate(Scope(_nothing, local_values, work))):
                kept.append(item)
    except expressions.ExpressionError as error:
        raise refuse(f"“where” cannot be used: {error}") from None
    except TooMuchWork:
        raise refuse("The values of the items are too large to compare. Work on a part of the list.") from None
    return {"items": kept, "removed": len(items) - len(kept)}


def _nothing(path: Path) -> Json:
    """Return null for every reference to the run: such expressions are refused before."""


BUILTINS = (
    define(
        "data.filter",
        _filter,
        "Keeps the items for which an expression holds, such as “item.total > 100 and item.state != 'paid'”.",
        {
            "items: array": "The list.",
            "where: string": "An expression that reads item, index and variables.",
            "variables?: object = {}": "Other values that the expression reads.",
        },
        {"items: array": "The items that were kept.", "removed: integer": "The number of items that were left out."},
    ),
)
