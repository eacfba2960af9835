"""Built-in capabilities for numbers. They calculate with decimals, so that 0.1 + 0.2 is 0.3."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_UP, Decimal, Overflow

from registry.core.workflows.builtins import json_paths
from registry.core.workflows.builtins.arithmetic import calculate
from registry.core.workflows.builtins.decimals import CONTEXT, decimal, number, too_large
from registry.core.workflows.builtins.definition import Inputs, define, refuse
from registry.core.workflows.builtins.lists import check_count
from registry.core.workflows.values import NUMBER, Json, fits, type_of

MOST_PLACES = 20
_ROUNDINGS = {"half-up": ROUND_HALF_UP, "half-even": ROUND_HALF_EVEN, "down": ROUND_DOWN, "up": ROUND_UP}


def _calculate(given: Inputs) -> dict[str, Json]:
    return {"value": number(calculate(given["expression"], given["variables"]))}


def _round(given: Inputs) -> dict[str, Json]:
    rounding, places = _ROUNDINGS.get(given["rounding"]), given["places"]
    if rounding is None:
        raise refuse(f"“rounding” must be one of {', '.join(_ROUNDINGS)}.")
    if not 0 <= places <= MOST_PLACES:
        raise refuse(f"“places” must be between 0 and {MOST_PLACES}.")
    value = decimal(given["value"])
    if value.adjusted() >= 15 or (exponent := value.as_tuple().exponent) in ("n", "N", "F"):
        return {"value": given["value"]}  # it has no places that could be rounded
    return {
        "value": number(value if int(exponent) >= -places else value.quantize(Decimal(1).scaleb(-places), rounding))
    }


def _statistics(given: Inputs) -> dict[str, Json]:
    check_count(given["items"])
    parts = () if given["by"] is None else json_paths.segments(given["by"])
    values = sorted(_number(json_paths.read_or_none(item, parts), at) for at, item in enumerate(given["items"]))
    if not values:
        return {"count": 0, "sum": 0}
    try:
        total = Decimal(0)
        for value in values:
            total = CONTEXT.add(total, value)
        middle = CONTEXT.add(values[(len(values) - 1) // 2], values[len(values) // 2])
    except Overflow:
        raise too_large() from None
    return {
        "count": len(values),
        "sum": number(total),
        "mean": number(CONTEXT.divide(total, Decimal(len(values)))),
        "median": number(CONTEXT.divide(middle, Decimal(2))),
        "minimum": number(values[0]),
        "maximum": number(values[-1]),
    }


def _number(value: Json, at: int) -> Decimal:
    if not fits(value, NUMBER):
        raise refuse(f"The value of item {at} must be a number, but it is of type {type_of(value)}.")
    return decimal(value)


BUILTINS = (
    define(
        "number.calculate",
        _calculate,
        "Calculates with + - * / and parentheses: “(price + shipping) * 1.19”. Decimals are exact to 34 digits.",
        {"expression: string": "The calculation.", "variables?: object = {}": "The numbers that it names."},
        {"value: number": "The result."},
        role=("evaluate",),
    ),
    define(
        "number.round",
        _round,
        "Rounds a number: half-up as in school (2.5 becomes 3), half-even as in banks, down or up.",
        {
            "value: number": "The number.",
            "places?: integer = 0": f"Digits behind the point, up to {MOST_PLACES}.",
            'rounding?: string = "half-up"': f"One of {', '.join(_ROUNDINGS)}.",
        },
        {"value: number": "The rounded number."},
    ),
    define(
        "data.statistics",
        _statistics,
        "Adds up the numbers of a list, and finds their mean, median, minimum and maximum.",
        {"items: array": "Numbers, or objects with a number.", "by?: string": "The path of the number in each item."},
        {
            "count: integer": "How many numbers there are.",
            "sum: number": "Their sum, 0 if there is none.",
            "mean?: number": "Their mean. Missing for an empty list, like the fields below.",
            "median?: number": "The number in the middle.",
            "minimum?: number": "The smallest number.",
            "maximum?: number": "The largest number.",
        },
        role=("evaluate",),
    ),
)
