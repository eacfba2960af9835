"""Checks of the values of a call or a run against the declared fields."""

import copy
from collections.abc import Iterator
from itertools import chain, islice

from registry.core.text.nearest import nearest_of
from registry.core.workflows.failures import Code, StepFailed
from registry.core.workflows.values import ANY, Field, Fields, Json, fits, type_of

MOST_PROBLEMS = 5  # in one message
_NAME_CHARS = 80


def check_inputs(fields: Fields, values: Json, *, what: str) -> dict[str, Json]:
    """Return the inputs with defaults for the missing ones.

    `what` names them in the message, such as "The input of the skill review".
    Null counts as missing, except in a field of any type. Raise StepFailed with all problems, and at most five.
    """
    given = _object(values, Code.INPUT, what)
    _refuse(chain(_unknown(fields, given), _faults(fields, given)), Code.INPUT, what)
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
    given = _object(values, Code.OUTPUT, what)
    _refuse(_faults(fields, given), Code.OUTPUT, what)
    return given


def _object(values: Json, code: Code, subject: str) -> dict[str, Json]:
    if isinstance(values, dict) and all(isinstance(name, str) for name in values):
        return dict(values)
    raise StepFailed(code, f"{subject} must be an object with a value for each field, not {type_of(values)}.")


def _is_missing(field: Field, given: dict[str, Json]) -> bool:
    return field.name not in given or (given[field.name] is None and field.type != ANY)


def _unknown(fields: Fields, given: dict[str, Json]) -> Iterator[str]:
    """Yield unknown names. Only those that a message shows are compared with the known ones."""
    nearest = nearest_of(fields, cutoff=0.5)
    for number, name in enumerate(name for name in given if name not in fields):
        near = nearest(name) if number < MOST_PROBLEMS else ""
        yield f"{_shown(name)} is not a field" + (f" (did you mean “{near}”?)" if near else "")


def _faults(fields: Fields, given: dict[str, Json]) -> Iterator[str]:
    for name, field in fields.items():
        if _is_missing(field, given):
            if field.required and not field.has_default:
                yield f"{_shown(name)} is missing" + (f" (type {field.type})" if field.type else "")
        elif not fits(given[name], field.type):
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
