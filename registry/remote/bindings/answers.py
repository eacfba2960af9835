"""JSON answers of other servers: checked, parsed strictly, and picked apart into outputs."""

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from registry.core.workflows.values import Json
from registry.lib.json_values import MOST_VALUES, has_more_values
from registry.remote.bindings import value_paths as paths
from registry.remote.bindings.failure import unusable_answer, unusable_definition

MOST_BYTES = 1024 * 1024
MOST_DEPTH = 64


def parse(body: bytes, host: str, *, retryable: bool = False) -> Json:
    """Return the value of a JSON text, or raise BindingFailed.

    A text that two parsers may read differently is refused: duplicate keys, NaN, and characters that are half of one.
    """
    try:
        text = body.decode("utf-8-sig")
        if has_more_values(text, MOST_VALUES):
            message = f"The answer of {host} has more than {MOST_VALUES:,} values. Ask for less at once."
            raise unusable_answer(message, retryable=retryable)
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
        if "\\u" in text:
            _check_characters(value)
    except (ValueError, RecursionError):
        if body.lstrip()[:1] == b"<":
            message = f"{host} answered with a web page or XML, not with JSON. Check the address."
        else:
            message = f"The answer of {host} is not valid JSON, or it has a key twice."
        raise unusable_answer(message, retryable=retryable) from None
    if _is_deeper(value, MOST_DEPTH):
        message = f"The answer of {host} is nested more than {MOST_DEPTH} levels deep."
        raise unusable_answer(message, retryable=retryable)
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _check_characters(value: Json) -> None:
    """Raise ValueError for half of a surrogate pair, and for NUL, which databases cannot store."""
    text = json.dumps(value, ensure_ascii=False)
    text.encode()
    if "\\u0000" in text.replace("\\\\", ""):
        raise ValueError


def _is_deeper(value: Json, most: int) -> bool:
    level = [value]
    for _ in range(most + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def outputs(value: Json, picks: Json) -> dict[str, Any]:
    """Return the outputs of an answer.

    An object is the outputs itself, and everything else is the output `value`. `picks` maps outputs to dotted paths in
    these, such as `data.items.0.id`. An output whose path is missing in the answer is left out.
    """
    found = value if isinstance(value, dict) else {"value": value}
    if picks is None:
        return found
    if not isinstance(picks, Mapping) or not all(isinstance(path, str) and path for path in picks.values()):
        raise unusable_definition("`outputs` of the binding must map each output to a path such as data.id.")
    picked = {name: paths.at(found, path) for name, path in picks.items()}
    return {name: value for name, value in picked.items() if value is not paths.MISSING}
