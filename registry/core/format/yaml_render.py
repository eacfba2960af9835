"""JSON values as YAML text that reads back as exactly these values."""

import re
from collections.abc import Iterator, Mapping

from registry.core.format import plain_scalars
from registry.core.format.edit_lines import key_text, quote
from registry.core.format.yaml_positions import read_as

# Characters that mean nothing inside of plain text. Quotes and brackets do not in block style, except at the start.
_PLAIN_FLOW = re.compile(r"[A-Za-z_][A-Za-z0-9_./<>=!()+*%-]*(?: [A-Za-z0-9_./<>=!()+*%-]+)*", re.ASCII)
_PLAIN_BLOCK = re.compile(r"[A-Za-z_](?:[\w.,;/<>=!()'+*%\[\]{}?&|@-]|:(?=\S)| (?=[^ #]))*", re.ASCII)
_ODD = re.compile("[\0-\x08\x0b-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def flow(value: object, style: str = "") -> str:
    """Return a value on one line, as it can be written anywhere. Text gets the quotes `style` if there are any."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(key)}: {flow(item)}' for key, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    return scalar(value, style, _PLAIN_FLOW)


def line(value: object, style: str = "") -> str:
    """Return a value on one line, as it can be written after a key that has a line of its own."""
    return scalar(value, style, _PLAIN_BLOCK) if isinstance(value, str) else flow(value)


def scalar(value: object, style: str, plain: re.Pattern[str]) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case float():
            return _number(value)
    text = str(value)
    if style not in ("'", '"') and _is_plain(text, plain):
        return text
    simple = text.isprintable() and "---" not in text
    return "'" + text.replace("'", "''") + "'" if style == "'" and simple else quote(text)


def block(value: object, indent: int, newline: str, depth: int = 2) -> Iterator[str]:
    """Yield the text after a key, in lines: a map with a line for each key, or text of several lines, or one line.

    `indent` is the column of what is below the key. Maps deeper than `depth` are written on one line.
    """
    if isinstance(value, Mapping) and value and depth:
        yield newline
        for key, item in value.items():
            yield f"{' ' * indent}{_key(key)}:"
            yield from block(item, indent + 2, newline, depth - 1)
    elif isinstance(value, str) and (mark := literal_mark(value)):
        yield f" {mark}{newline}"
        for each in value.removesuffix("\n").split("\n"):
            yield f"{' ' * indent if each else ''}{each}{newline}"
    else:
        yield f" {line(value)}{newline}"


def literal_mark(text: str) -> str:
    """Return `|` or `|-` if text of several lines can be written in them, else an empty string."""
    lines = text.removesuffix("\n").split("\n")
    if len(lines) < 2 or not lines[0] or not lines[-1] or lines[0][0] in " \t":
        return ""
    if _ODD.search(text) or any(each and not each.strip() for each in lines):
        return ""
    return "|" if text.endswith("\n") else "|-"


def _key(name: object) -> str:
    return key_text(str(name))


def _is_plain(text: str, pattern: re.Pattern[str]) -> bool:
    if not pattern.fullmatch(text) or text.endswith(":") or read_as(text) != "str":
        return False
    return plain_scalars.json(text) == text


def _number(value: float) -> str:
    text = repr(value)
    return text if plain_scalars.json(text) == value else f"{value:f}"
