"""Checks of the values of a call or a run against the declared fields."""

import copy
import difflib
from collections.abc import Iterator
from itertools import chain, islice

from registry.core.workflows.failures import Code, StepFailed
from registry.core.workflows.values import Field, Fields, Json, fits, type_of

MOST_PROBLEMS = 5  # in one message
_NAME_CHARS = 80
_ANY = ""  # the type of a field that takes every value


def check_inputs(fields: Fields, values: Json, *, what: str) -> dict[str, Json]:
    """Return the inputs with defaults for the missing ones. `what` is their reader, such as "the workflow review".

    Null counts as missing, except in a field of any type. Raise StepFailed with all problems, and at most five.
    """
    given = _object(values, Code.INPUT, f"The input of {what}")
    _refuse(chain(_unknown(fields, given), _faults(fields, given)), Code.INPUT, f"The input of {what} is wrong")
    present = {name: value for name, value in given.items() if not _is_missing(fields[name], given)}
    defaults = {
        name: copy.deepcopy(field.default)
        for name, field in fields.items()
        if field.has_default and field.default is not None and name not in present
    }
    return {**defaults, **present}


def check_outputs(fields: Fields, values: Json, *, what: str) -> dict[str, Json]:
    """Return the outputs of a call or a run. Outputs that are not declared are kept.

    A required output must not be null. Another one may be, and is kept.
    """
    given = _object(values, Code.OUTPUT, f"The output of {what}")
    _refuse(_faults(fields, given), Code.OUTPUT, f"The output of {what} is wrong")
    return given


def _object(values: Json, code: Code, subject: str) -> dict[str, Json]:
    if isinstance(values, dict) and all(isinstance(name, str) for name in values):
        return dict(values)
    raise StepFailed(code, f"{subject} must be an object with a value for each field, not {type_of(values)}.")


def _is_missing(field: Field, given: dict[str, Json]) -> bool:
    return field.name not in given or (given[field.name] is None and field.type != _ANY)


def _unknown(fields: Fields, given: dict[str, Json]) -> Iterator[str]:
    """Yield unknown names. Only those that a message shows are compared with the known ones."""
    for number, name in enumerate(name for name in given if name not in fields):
        compared = name[:_NAME_CHARS] if number < MOST_PROBLEMS else ""
        near = difflib.get_close_matches(compared, list(fields), n=1, cutoff=0.5) if compared else []
        yield f"{_shown(name)} is not a field" + (f" (did you mean “{near[0]}”?)" if near else "")


def _faults(fields: Fields, given: dict[str, Json]) -> Iterator[str]:
    for name, field in fields.items():
        if _is_missing(field, given):
            if field.required and not field.has_default:
                yield f"{_shown(name)} is missing" + (f" (type {field.type})" if field.type else "")
        elif field.type != _ANY and not fits(given[name], field.type):
            yield f"{_shown(name)} must be of type {field.type}, not {type_of(given[name])}"


def _shown(name: str) -> str:
    printable = "".join(char if char.isprintable() else "�" for char in name[:_NAME_CHARS])
    return f"“{printable}”" if len(name) <= _NAME_CHARS else f"“{printable}…”"


def _refuse(problems: Iterator[str], code: Code, start: str) -> None:
    shown = list(islice(problems, MOST_PROBLEMS))
    if not shown:
        return
    more = sum(1 for _ in problems)
    end = f", and {more:,} more" if more else ""
    raise StepFailed(code, f"{start}: {'; '.join(shown)}{end}.")
