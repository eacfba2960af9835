"""Values of plain scalars in YAML: words for headers, JSON values for other files."""

import math
import re

_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip

# YAML 1.2 without octal, hexadecimal, infinite and undefined numbers. `010` and `1.0.0` are text.
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_INTEGER_DIGITS = 15  # more than that is not exact in JSON
_DECIMAL_CHARS = 40


def words(text: str) -> object:
    """Return None for null, a bool for `true` and `false`, and any other scalar as text."""
    return _WORDS.get(text, text)


def is_null(text: str) -> bool:
    return text in _WORDS and _WORDS[text] is None


def json(text: str) -> object:
    """Return the JSON value of a plain scalar. Raise ValueError with a message and a fix if a number is too long."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        if len(text.lstrip("+-")) > _INTEGER_DIGITS:
            raise _too_long(f"An integer has more than {_INTEGER_DIGITS} digits.")
        return int(text)
    if _DECIMAL.fullmatch(text):
        if len(text) > _DECIMAL_CHARS:
            raise _too_long(f"A number has more than {_DECIMAL_CHARS} characters.")
        number = float(text)
        if not math.isfinite(number):
            raise _too_long("A number is too large.")
        return number
    return text


def _too_long(message: str) -> ValueError:
    return ValueError(message, "Put it in quotes if it is text, or write a shorter number.")
