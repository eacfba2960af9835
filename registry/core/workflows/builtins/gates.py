"""Built-in gates: capabilities that allow something or not. They fail if they cannot decide."""

from bisect import bisect_right
from collections.abc import Callable

from registry.core.scan import credentials
from registry.core.workflows.builtins import json_paths, personal_data
from registry.core.workflows.builtins.decimals import decimal
from registry.core.workflows.builtins.definition import Inputs, define, refuse
from registry.core.workflows.values import Json, fits

MOST_FINDINGS = 100
MOST_ALLOWED = 10_000
MOST_PERSONAL_CHARS = 500_000
MOST_SEARCHED = 50_000_000  # characters of the text, times the words


def _places(text: str) -> Callable[[int], dict[str, Json]]:
    """Return a function from the offset of a character to its line and column, both from 1."""
    starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]

    def place(offset: int) -> dict[str, Json]:
        line = bisect_right(starts, offset)
        return {"line": line, "column": offset - starts[line - 1] + 1}

    return place


def _verdict(findings: list[Json], count: int, subject: str) -> dict[str, Json]:
    return {
        "allowed": count == 0,
        "reason": f"The text contains {subject} at {count:,} place{'' if count == 1 else 's'}." if count else "",
        "findings": findings,
    }


def _secrets(given: Inputs) -> dict[str, Json]:
    text, findings, count = given["text"], [], 0
    place = _places(text)
    for credential in credentials.find(text):
        count += 1
        if count <= MOST_FINDINGS:
            findings.append({"what": credential.what, **place(credential.offset)})
    return _verdict(findings, count, "secrets")


def _personal(given: Inputs) -> dict[str, Json]:
    kinds = list(personal_data.NAMES) if given["kinds"] is None else given["kinds"]
    if not kinds or not all(kind in personal_data.NAMES for kind in kinds):
        raise refuse(f"“kinds” must be a list of one or more of {', '.join(personal_data.NAMES)}.")
    text, findings, count = given["text"], [], 0
    if len(text) > MOST_PERSONAL_CHARS:
        raise refuse(
            f"The text has {len(text):,} characters, and {MOST_PERSONAL_CHARS:,} are allowed. Check it in parts."
        )
    place = _places(text)
    for found in personal_data.find(text, frozenset(kinds)):
        count += 1
        if count <= MOST_FINDINGS:
            findings.append({"kind": found.kind, "masked": found.masked, **place(found.offset)})
    findings.sort(key=lambda finding: (finding["line"], finding["column"]))
    return _verdict(findings, count, "personal data") | {"contains_pii": count > 0}


def _range(given: Inputs) -> dict[str, Json]:
    return _within(given["value"], given, "The value")


def _length(given: Inputs) -> dict[str, Json]:
    return _within(len(given["text"]), given, "The number of characters")


def _within(value: int | float, given: Inputs, subject: str) -> dict[str, Json]:
    least, most = given["minimum"], given["maximum"]
    if least is None and most is None:
        raise refuse("Give “minimum”, “maximum” or both. Without them everything would be allowed.")
    if least is not None and most is not None and decimal(least) > decimal(most):
        raise refuse("“minimum” is larger than “maximum”, so nothing would be allowed.")
    if least is not None and decimal(value) < decimal(least):
        return _denied(f"{subject} is {value}, and must be at least {least}.")
    if most is not None and decimal(value) > decimal(most):
        return _denied(f"{subject} is {value}, and must be at most {most}.")
    return {"allowed": True, "reason": ""}


def _allowlist(given: Inputs) -> dict[str, Json]:
    allowed = _texts(given["allowed_values"], "allowed_values")
    fold = str.casefold if given["ignore_case"] else str
    if fold(given["value"]) in map(fold, allowed):
        return {"allowed": True, "reason": ""}
    return _denied(f"“{json_paths.shown(given['value'])}” is not on the list of allowed values.")


def _required(given: Inputs) -> dict[str, Json]:
    paths = json_paths.several(given["fields"])
    if not paths:
        raise refuse("“fields” is empty. Name the fields that must have a value.")
    empty = [
        path for path, parts in paths.items() if json_paths.read_or_none(given["value"], parts) in (None, "", [], {})
    ]
    if empty:
        return _denied(f"These fields have no value: {', '.join(map(json_paths.shown, empty))}.")
    return {"allowed": True, "reason": ""}


def _words(given: Inputs) -> dict[str, Json]:
    forbidden = _texts(given["forbidden_words"], "forbidden_words")
    if len(forbidden) > 1_000 or not all(forbidden):
        raise refuse("“forbidden_words” must have up to 1,000 texts that are not empty.")
    if len(given["text"]) * len(forbidden) > MOST_SEARCHED:
        raise refuse("The text is too long for this many words. Check it in parts, or use fewer words.")
    text = given["text"].casefold()
    found = next((word for word in forbidden if word.casefold() in text), None)
    return (
        {"allowed": True, "reason": ""} if found is None else _denied(f"The text contains “{json_paths.shown(found)}”.")
    )


def _texts(values: list[Json], name: str) -> list[str]:
    if not values or len(values) > MOST_ALLOWED or not all(fits(value, "string") for value in values):
        raise refuse(f"“{name}” must be a list of 1 to {MOST_ALLOWED:,} texts.")
    return values


def _denied(reason: str) -> dict[str, Json]:
    return {"allowed": False, "reason": reason}


_VERDICT = {"allowed: boolean": "Whether it is allowed.", "reason: string": "Why not, or an empty text."}
_BOUNDS = {"minimum?: number": "The smallest that is allowed.", "maximum?: number": "The largest that is allowed."}
_ROLE = ("evaluate", "decide")

BUILTINS = (
    define(
        "security.secrets.detect",
        _secrets,
        "Allows a text without keys, tokens and passwords in the formats of their issuers. It never repeats a secret.",
        {"text: string": "The text."},
        _VERDICT | {"findings: array": f"Up to {MOST_FINDINGS} objects with “what”, “line” and “column”."},
        role=_ROLE,
        produces={"findings": "Risk"},
    ),
    define(
        "security.pii.detect",
        _personal,
        "Allows a text without personal data that has a clear form. Names and addresses of people are not found.",
        {
            "text: string": "The text.",
            "kinds?: array": f"What to look for: {', '.join(personal_data.NAMES)}. All without it.",
        },
        _VERDICT
        | {
            "findings: array": f"Up to {MOST_FINDINGS} objects with “kind”, “masked”, “line” and “column”.",
            "contains_pii: boolean": "Whether there is any.",
        },
        role=_ROLE,
        produces={"findings": "Risk"},
    ),
    define(
        "policy.range.gate",
        _range,
        "Allows a number between two bounds, for example an amount of up to 500.",
        {"value: number": "The number."} | _BOUNDS,
        _VERDICT,
        role=_ROLE,
    ),
    define(
        "policy.length.gate",
        _length,
        "Allows a text with a number of characters between two bounds.",
        {"text: string": "The text."} | _BOUNDS,
        _VERDICT,
        role=_ROLE,
    ),
    define(
        "policy.allowlist.gate",
        _allowlist,
        "Allows a text that is on a list.",
        {
            "value: string": "The text.",
            "allowed_values: array": "The list.",
            "ignore_case?: boolean = false": "Whether upper and lower case are the same.",
        },
        _VERDICT,
        role=_ROLE,
    ),
    define(
        "policy.required.gate",
        _required,
        "Allows an object if some fields have a value that is not empty.",
        {"value: object": "The object.", "fields: array": "The names or paths of the fields."},
        _VERDICT,
        role=_ROLE,
    ),
    define(
        "policy.words.gate",
        _words,
        "Allows a text without some words, in any case.",
        {"text: string": "The text.", "forbidden_words: array": "The words."},
        _VERDICT,
        role=_ROLE,
    ),
)
