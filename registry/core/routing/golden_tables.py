"""Golden cases in a table: lines of question, tab, skill, as a spreadsheet copies them, or the same as CSV.

The columns are question, expected skills, category and note, unless a first line names them. Spreadsheets in many
languages write CSV with semicolons. It is read if its first line names the columns. A cell with several names separates
them by commas or semicolons. An empty cell, `-` or `none` means that no skill should be found.
"""

import csv
from collections.abc import Iterator, Sequence

from registry.core.errors import InvalidRequest
from registry.core.routing.golden import CASES, CATEGORIES, Case, Problems, refusal, spelt

_COLUMNS = ("query", "expected", "category", "note")
_HEADINGS = {
    "query": "query", "question": "query", "prompt": "query", "expected": "expected", "expected skill": "expected",
    "expected_skill": "expected", "skill": "expected", "skills": "expected", "acceptable": "acceptable",
    "category": "category", "note": "note",
}  # fmt: skip
_MOST_COLUMNS = 10
_MOST_COMMAS = 1_000_000  # of a CSV text
_NAMES_CHARS = 10_000  # of a cell with names
_NONE = ("", "-", "none", "<none>")


def read(text: str) -> tuple[list[str], list[Case]]:
    """Return the cases of a table, and a label with the line of each."""
    rows = _rows_with_tabs(text) if "\t" in text else _rows_of_csv(text, _delimiter(text))
    columns: Sequence[str] = _COLUMNS
    labels: list[str] = []
    cases: list[Case] = []
    problems = Problems()
    for place, (number, cells) in enumerate(rows):
        if place == 0 and (named := _named(cells)):
            _check_headings(cells, named, number)
            columns = named
            continue
        if len(cases) >= CASES:
            raise InvalidRequest(f"The table has more than {CASES:,} test questions.", field="file")
        labels.append(f"Line {number}")
        split_at_commas = columns is _COLUMNS and "\t" not in text
        cases.append(_case(cells, columns, labels[-1], problems, len(cases), split_at_commas=split_at_commas))
    problems.raise_any()
    return labels, cases


def _named(cells: Sequence[str]) -> list[str]:
    """Return the columns that a first line names; empty if it is a question."""
    named = [_HEADINGS.get(cell.strip(' \r"').lower(), "") for cell in cells]
    return named if named[:1] == ["query"] and "expected" in named else []


def _check_headings(cells: Sequence[str], named: Sequence[str], number: int) -> None:
    """Refuse a column that would be lost: an unknown one, such as a misspelt one, or one that is there twice."""
    for place, (cell, name) in enumerate(zip(cells, named, strict=True)):
        heading = cell.strip(' \r"')
        if not name and heading:
            known = "query, expected, acceptable, category, note"
            message = f"The column {heading[:40]!r} is not known. Rename or remove it. Known: {known}."
        elif name and name in named[:place]:
            message = f"Two columns are {name!r}. Remove one of them."
        else:
            continue
        raise refusal(f"Line {number}: {message}", "file")


def _delimiter(text: str) -> str:
    first = text.lstrip().partition("\n")[0]
    return ";" if _named(first.split(";", _MOST_COLUMNS)) else ","


def _case(
    cells: Sequence[str], columns: Sequence[str], label: str, problems: Problems, index: int, *, split_at_commas: bool
) -> Case:
    if len(cells) < 2:
        message = "There is no answer. Add a tab and the name of the skill, or “-” if no skill should be found."
        problems.add(index, label, message, "expected")
    if len(cells) > len(columns):
        message = f"There are {len(cells)} columns, and {len(columns)} are known. Put a question with commas in quotes."
        problems.add(index, label, message, "query")
    values = dict(zip(columns, cells, strict=False))
    category = values.get("category", "").strip()
    if split_at_commas and category and spelt(category) not in CATEGORIES:
        message = f"There is no category {category[:40]!r}. Put a question with commas in quotes."
        problems.add(index, label, message, "category")
        return Case("")
    if any(len(values.get(column, "")) > _NAMES_CHARS for column in ("expected", "acceptable")):
        problems.add(index, label, f"The names of the skills have more than {_NAMES_CHARS:,} characters.", "expected")
        return Case("")
    return Case(
        values.get("query", ""),
        _names(values.get("expected", "")),
        _names(values.get("acceptable", "")),
        values.get("category", ""),
        values.get("note", ""),
    )


def _names(cell: str) -> tuple[str, ...]:
    if cell.strip().lower() in _NONE:
        return ()
    return tuple(name for name in cell.replace(";", ",").split(",") if name.strip())


def _rows_with_tabs(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines with a tab between cells. A quote inside a question is a part of it."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, [_unquoted(cell) for cell in line.rstrip("\r").split("\t", _MOST_COLUMNS)]


def _unquoted(cell: str) -> str:
    """Return the text of a cell that a spreadsheet put in quotes because it contains one."""
    inner = cell[1:-1]
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else cell


def _rows_of_csv(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    if text.count(delimiter) > _MOST_COMMAS:
        raise InvalidRequest(f"The table has more than {_MOST_COMMAS:,} cells. Separate cells by tabs.", field="file")
    reader = csv.reader(text.split("\n"), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        message = f"Line {reader.line_num}: This is not CSV: {error}. Check the quotes."
        raise refusal(message, "file") from None
