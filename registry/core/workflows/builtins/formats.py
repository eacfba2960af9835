"""Built-in capabilities that read and write JSON and CSV."""

import csv
import json
import re
from collections.abc import Iterator
from decimal import Decimal

from registry.core.workflows.builtins import json_paths, templates
from registry.core.workflows.builtins.decimals import number
from registry.core.workflows.builtins.definition import MOST_BYTES, Inputs, define, refuse
from registry.core.workflows.values import Json

MOST_ROWS = 50_000
MOST_CELLS = 200_000
_QUOTED = frozenset('"\r\n')
_NUMBER = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,20})?", re.ASCII)


def _parse_json(given: Inputs) -> dict[str, Json]:
    try:
        return {"value": json.loads(given["text"], parse_constant=_no_constant)}
    except json.JSONDecodeError as error:
        raise refuse(f"The text is not JSON: line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except ValueError:
        raise refuse("The text is not JSON: it has a number that is too long, or NaN or Infinity.") from None
    except RecursionError:
        raise refuse("The JSON is nested too deeply.") from None


def _no_constant(name: str) -> Json:
    raise ValueError(name)


def _render_json(given: Inputs) -> dict[str, Json]:
    indent = 2 if given["indent"] else None
    parts, left = [], MOST_BYTES
    for part in json.JSONEncoder(ensure_ascii=False, indent=indent).iterencode(given["value"]):
        left -= len(part)
        if left < 0:
            raise refuse("The JSON text becomes larger than 1 MiB. Write it without indent, or a part of it.")
        parts.append(part)
    return {"text": "".join(parts)}


def _separator(given: Inputs) -> str:
    separator: str = given["separator"]
    if len(separator) != 1 or separator in '"\r\n\0' or "\ud800" <= separator <= "\udfff":
        raise refuse("“separator” must be one character, such as a comma, a semicolon or a tab.")
    return separator


def _parse_csv(given: Inputs) -> dict[str, Json]:
    rows, numbers = list(_rows(given["text"], _separator(given))), given["numbers"]
    if not given["header"]:
        if numbers:
            raise refuse("“numbers” has names of columns, so the table needs a header.")
        return {"rows": rows, "columns": [], "count": len(rows)}
    if not rows:
        return {"rows": [], "columns": [], "count": 0}
    columns = [name.strip() for name in rows[0]]
    if twice := next((name for name in columns if columns.count(name) > 1), None):
        raise refuse(f"The column “{json_paths.shown(twice)}” occurs twice. Give every column a name of its own.")
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(columns):
            raise refuse(f"Row {line:,} has {len(row):,} cells, and the header has {len(columns):,} columns.")
    records: list[dict[str, Json]] = [dict(zip(columns, row, strict=True)) for row in rows[1:]]
    _read_numbers(records, columns, numbers)
    return {"rows": records, "columns": columns, "count": len(records)}


def _read_numbers(records: list[dict[str, Json]], columns: list[str], numbers: list[Json]) -> None:
    """Replace the texts in some columns by numbers, and empty cells by null."""
    if not all(isinstance(name, str) for name in numbers):
        raise refuse("Every entry of “numbers” must be the name of a column.")
    known = set(columns)
    for name in dict.fromkeys(map(str, numbers)):
        if name not in known:
            shown = json_paths.shown(name)
            raise refuse(f"The table has no column “{shown}”, which “numbers” names. Its columns: {_listed(columns)}.")
        for row, record in enumerate(records, start=2):
            text = str(record[name]).strip()
            if text and not _NUMBER.fullmatch(text):
                raise refuse(
                    f"Row {row:,}: “{json_paths.shown(text)}” in the column “{json_paths.shown(name)}” is not a "
                    "number such as 12 or -3.50."
                )
            record[name] = number(Decimal(text)) if text else None


def _listed(columns: list[str]) -> str:
    return json_paths.shown(", ".join(columns))


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    lines = (f"{line}\n" for line in text.removeprefix("\ufeff").split("\n"))
    cells = count = 0
    try:
        for row in csv.reader(lines, delimiter=separator, strict=True):
            if row:
                cells, count = cells + len(row), count + 1
                if count > MOST_ROWS or cells > MOST_CELLS:
                    raise refuse(
                        f"The table has more than {MOST_ROWS:,} rows or {MOST_CELLS:,} cells. Read a part of it."
                    )
                yield row
    except csv.Error as error:
        raise refuse(f"The text is not CSV after row {count:,}: {error}.") from None


def _render_csv(given: Inputs) -> dict[str, Json]:
    rows, columns, separator = given["rows"], given["columns"], _separator(given)
    if not all(isinstance(row, dict) for row in rows):
        raise refuse("Every entry of “rows” must be an object, with a value for each column.")
    names = list(dict.fromkeys(name for row in rows for name in row)) if columns is None else columns
    if not all(isinstance(name, str) for name in names):
        raise refuse("Every entry of “columns” must be the name of a column.")
    if (len(rows) + 1) * len(names) > MOST_CELLS:
        raise refuse(f"The table has more than {MOST_CELLS:,} cells. Use fewer rows or columns.")
    lines, left = [], MOST_BYTES
    for cells in (names, *([row.get(name) for name in names] for row in rows)):
        line = separator.join(_cell(cell, separator) for cell in cells)
        left -= len(line)
        if left < 0:
            raise refuse("The text becomes larger than 1 MiB. Use fewer rows or columns.")
        lines.append(f"{line}\r\n")
    return {"text": "".join(lines) if names else ""}


def _cell(value: Json, separator: str) -> str:
    text = "" if value is None else templates.as_text(value)
    if separator in text or not _QUOTED.isdisjoint(text):
        return '"' + text.replace('"', '""') + '"'
    return text


_CSV = {'separator?: string = ","': "The character between the cells."}

BUILTINS = (
    define(
        "json.parse",
        _parse_json,
        "Reads a value from JSON text.",
        {"text: string": "The JSON text."},
        {"value?: any": "The value."},
        role=("perceive",),
    ),
    define(
        "json.render",
        _render_json,
        "Writes a value as JSON text.",
        {
            "value?: any": "The value.",
            "indent?: boolean = false": "Whether it is written for people, on several lines.",
        },
        {"text: string": "The JSON text."},
    ),
    define(
        "csv.parse",
        _parse_csv,
        "Reads a table from CSV text: an object for each row, with the names of the header.",
        {
            "text: string": "The CSV text.",
            "header?: boolean = true": "Whether the first row has the names.",
            "numbers?: array = []": "Names of the columns that have numbers with a point. Empty cells become null.",
        }
        | _CSV,
        {
            "rows: array": "Objects of texts, or lists of texts without a header.",
            "columns: array": "The names of the columns.",
            "count: integer": "The number of rows without the header.",
        },
        role=("perceive",),
    ),
    define(
        "csv.render",
        _render_csv,
        "Writes objects as CSV text with a header.",
        {"rows: array": "Objects.", "columns?: array": "Names of the columns in order. Without it, all that occur."}
        | _CSV,
        {"text: string": "The CSV text."},
    ),
)
