"""JSON that others wrote: responses of the site, lock files and cached files."""

import json
import math
from typing import Any, NoReturn


def parse(text: bytes) -> Any:
    """Return the value. Raise ValueError for everything that this program could not handle or write again.

    That includes values nested too deeply, NaN, infinite numbers, very long integers and unpaired surrogates.
    """
    try:
        value = json.loads(text.decode(), parse_constant=_refuse, parse_float=_finite)
        if b"\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        # The chain of exceptions would keep thousands of frames.
        raise ValueError("The value is nested too deeply.") from None
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a value of JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("A number is too large.")
    return number
