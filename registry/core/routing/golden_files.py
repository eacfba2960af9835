"""Golden files: the forms in which golden cases are imported and exported.

`read` knows, by their content, JSON, JSON Lines, and a table that was pasted from a spreadsheet:

- `[{"query", "expected"}]`, where `expected` is a name, a list of names or null
- `{"name", "cases": [...]}` around the same entries
- `[{"query", "should_trigger"}]`, the test questions of one skill
- `{"skill_name", "evals": [{"prompt", ...}]}`, the file `evals/evals.json` of a skill: each prompt expects the skill
- one JSON object per line
- lines of question, tab, skill; or the same as CSV

An entry of one skill with `should_trigger: false` says only that this skill is wrong. It becomes a near miss without an
expected skill, and its note names the skill. If another skill answers it, name that one as expected.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from registry.core.errors import InvalidRequest, TooLarge
from registry.core.routing import golden, golden_tables
from registry.core.routing.golden import CASES, NEAR_MISS, NEGATIVE, Case, Problems
from registry.lib.json_values import has_more_values

EVALS = "evals/evals.json"  # in the bundle of a skill
KEYS = ("query", "expected", "acceptable", "category", "note")  # of an entry
FILE_BYTES = 32 * 1024 * 1024
_MOST_VALUES = 200_000
_MOST_LINES = 200_000
_LISTS = ("cases", "evals", "queries")
_QUERIES = ("query", "prompt", "question")
_EXPECTED = ("expected", "expected_skills", "expected_skill")
_WHICH = "Choose the skill that the file is about, on the command line with --skill."
_SAME_CATEGORY = {"unrelated": NEGATIVE}


class _Wrong(Exception):
    """An entry is wrong. `field` names the part of it."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class _Context:
    """The skill that an entry belongs to, whether an entry without an answer expects it, and the field of the list."""

    skill: str = ""
    expects_skill: bool = False
    field: str = "file"


def read(content: bytes | str, *, skill: str = "") -> tuple[Case, ...]:
    """Return the checked cases of a file, or raise one error that names the lines or entries and what to change.

    `skill` is the skill of a file that tells only whether a skill should trigger.
    """
    text = _text(content)
    if not text.strip():
        raise InvalidRequest("There are no test questions: the text is empty.", field="file")
    if text.count("\n") > _MOST_LINES:
        raise TooLarge(f"The file has more than {_MOST_LINES:,} lines. {CASES:,} test questions are allowed.")
    is_json = text.lstrip()[0] in "[{"
    labels, cases = _parsed(*_json_entries(text, skill)) if is_json else golden_tables.read(text)
    if not cases:
        raise InvalidRequest("There are no test questions in the file.", field="file")
    return golden.check_all(cases, labels)


def read_entries(entries: Sequence[Any], labels: Sequence[str]) -> tuple[Case, ...]:
    """Return the checked cases of entries that are already parsed. `labels` name them in errors."""
    return golden.check_all(_parsed(_Context(field="cases"), list(labels), entries)[1], labels)


def to_json(name: str, cases: Iterable[Case]) -> str:
    """Return the cases as JSON with one case per line, so that versions of the file can be compared."""
    rows = [json.dumps(as_entry(case), ensure_ascii=False) for case in cases]
    listed = "[\n    " + ",\n    ".join(rows) + "\n  ]" if rows else "[]"
    return f'{{\n  "name": {json.dumps(name, ensure_ascii=False)},\n  "cases": {listed}\n}}\n'


def to_json_lines(cases: Iterable[Case]) -> str:
    return "".join(json.dumps(as_entry(case), ensure_ascii=False) + "\n" for case in cases)


def as_entry(case: Case) -> dict[str, Any]:
    """Return a case as an entry of a golden file. Empty optional fields are left out."""
    entry: dict[str, Any] = {"query": case.query, "expected": list(case.expected)}
    if case.acceptable:
        entry["acceptable"] = list(case.acceptable)
    entry["category"] = case.category
    return {**entry, "note": case.note} if case.note else entry


def _text(content: bytes | str) -> str:
    if len(content) > FILE_BYTES:
        raise TooLarge(f"The file has {len(content):,} bytes. {FILE_BYTES:,} are allowed.", allowed=FILE_BYTES)
    if isinstance(content, str):
        return content.removeprefix("\ufeff")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(
            f"The file is not UTF-8: byte {error.start:,} cannot be read. Save it as UTF-8.", field="file"
        ) from None


def _json_entries(text: str, skill: str) -> tuple[_Context, list[str], list[Any]]:
    """Return the entries of a JSON or JSON Lines text with their labels."""
    if has_more_values(text, _MOST_VALUES):
        raise TooLarge(f"The file has more than {_MOST_VALUES:,} values. {CASES:,} test questions are allowed.")
    try:
        document = _loads(text)
    except ValueError as error:
        rows = list(islice(_lines(text), CASES + 1))
        if len(rows) < 2 or not _is_json(rows[0][1]):
            raise InvalidRequest(f"This is not valid JSON: {_place(error)}.", field="file") from None
        return _Context(skill), [f"Line {number}" for number, _ in rows], [_line(*row) for row in rows]
    entries, context = _unwrapped(document, skill)
    return context, [f"Entry {number}" for number in range(1, len(entries) + 1)], entries


def _unwrapped(document: Any, skill: str) -> tuple[list[Any], _Context]:
    if isinstance(document, list):
        return document, _Context(skill)
    if any(key in document for key in _QUERIES):
        return [document], _Context(skill)
    for key in _LISTS:
        if isinstance(document.get(key), list):
            named = document.get("skill_name", document.get("skill", ""))
            owner = skill or (named if isinstance(named, str) else "")
            return document[key], _Context(owner, expects_skill=key == "evals")
    raise InvalidRequest(
        'The file has no list of test questions. Write {"cases": [{"query": "…", "expected": ["skill"]}]}.',
        field="file",
    )


def _parsed(context: _Context, labels: list[str], entries: Sequence[Any]) -> tuple[list[str], list[Case]]:
    if len(entries) > CASES:
        raise InvalidRequest(f"There are {len(entries):,} test questions. {CASES:,} are allowed.", field=context.field)
    cases, problems = [], Problems()
    for index, (label, entry) in enumerate(zip(labels, entries, strict=True)):
        try:
            cases.append(_case(entry, context))
        except _Wrong as error:
            problems.add(index, label, str(error), error.field)
    problems.raise_any()
    return labels, cases


def _case(entry: Any, context: _Context) -> Case:
    if isinstance(entry, Exception):
        raise _Wrong(f"This line is not valid JSON: {_place(entry, in_one_line=True)}.")
    if not isinstance(entry, dict):
        raise _Wrong('This is not an object. Write {"query": "…", "expected": ["skill"]}.')
    query = next((entry[key] for key in _QUERIES if key in entry), None)
    if not isinstance(query, str):
        raise _Wrong('There is no text named “query”. Add "query": "what somebody would ask".', "query")
    category, note = (_optional_text(entry, key) for key in ("category", "note"))
    category = _SAME_CATEGORY.get(golden.spelt(category), golden.spelt(category))
    acceptable = _names(entry.get("acceptable"), "acceptable")
    key = next((key for key in _EXPECTED if key in entry), None)
    if key is not None:
        return _consistent(entry, Case(query, _names(entry[key], key), acceptable, category, note))
    if "should_trigger" in entry:
        return _of_one_skill(entry["should_trigger"], context.skill, Case(query, (), acceptable, category, note))
    if context.expects_skill and context.skill:
        return Case(query, (context.skill,), acceptable, category, note)
    if context.expects_skill:
        raise _Wrong(f'The file does not name its skill. Add "skill_name" at its top. {_WHICH}', "expected")
    if category in (NEGATIVE, NEAR_MISS):
        return Case(query, (), acceptable, category, note)
    raise _Wrong('The answer is missing. Add "expected": ["skill"], or "expected": null if none fits.', "expected")


def _consistent(entry: dict[str, Any], case: Case) -> Case:
    if "should_trigger" in entry and entry["should_trigger"] is not bool(case.expected):
        raise _Wrong("“should_trigger” and “expected” contradict each other. Remove one of them.", "expected")
    return case


def _of_one_skill(should_trigger: Any, skill: str, case: Case) -> Case:
    if not isinstance(should_trigger, bool):
        raise _Wrong("“should_trigger” is neither true nor false.", "expected")
    if not skill:
        raise _Wrong(f"“should_trigger” does not say which skill. {_WHICH}", "expected")
    if should_trigger:
        return Case(case.query, (skill,), case.acceptable, case.category, case.note)
    return Case(
        case.query, (), case.acceptable, case.category or NEAR_MISS, case.note or f"Not a question for {skill}."
    )


def _names(value: Any, field: str) -> tuple[str, ...]:
    names = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _Wrong(
            f"“{field}” is neither a name, a list of names nor null.", field if field == "acceptable" else "expected"
        )
    return tuple(name for name in names if name.strip()) if isinstance(value, str) else tuple(names)


def _optional_text(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        raise _Wrong(f"“{key}” is not a text.", key)
    return value or ""


def _loads(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a value of JSON")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    # Not splitlines: JSON texts may contain U+2028 and other separators, which do not end a line.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def _line(number: int, line: str) -> Any:
    try:
        return _loads(line)
    except ValueError as error:
        return error


def _is_json(line: str) -> bool:
    return isinstance(_line(1, line), dict)


def _place(error: Exception, *, in_one_line: bool = False) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} in {'' if in_one_line else f'line {error.lineno}, '}column {error.colno}"
    return str(error).partition(";")[0]  # without the advice to programmers about numbers of many digits
