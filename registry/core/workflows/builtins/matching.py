"""Built-in capabilities with patterns: regular expressions whose search is certain to end soon."""

from registry.core.workflows.builtins import patterns
from registry.core.workflows.builtins.definition import MOST_BYTES, Inputs, define, refuse
from registry.core.workflows.values import Json


def _pattern(given: Inputs) -> patterns.Pattern:
    return patterns.parse(given["pattern"], ignore_case=given["ignore_case"])


def _match(given: Inputs) -> dict[str, Json]:
    found = next(_pattern(given).search(given["text"]), None)
    if found is None:
        return {"matched": False, "text": "", "groups": [], "named": {}}
    return {"matched": True, "text": found[0], "groups": list(found.groups()), "named": found.groupdict()}


def _extract(given: Inputs) -> dict[str, Json]:
    pattern = _pattern(given)
    if pattern.compiled.groups > 1:
        raise refuse(
            "The pattern has more than one group, so it is not clear what to extract. Use (?:…) for the others."
        )
    group = pattern.compiled.groups
    items = [match[group] for match in pattern.search(given["text"]) if match[group] is not None]
    items = list(dict.fromkeys(items)) if given["unique"] else items
    return {"items": items, "count": len(items)}


def _replace(given: Inputs) -> dict[str, Json]:
    text, search, replacement = given["text"], given["search"], given["replacement"]
    if not search:
        raise refuse("“search” is empty. Give the text to replace.")
    if not given["pattern"]:
        count = text.count(search)
        _check_growth(text, replacement, count)
        return {"text": text.replace(search, replacement), "count": count}
    pattern = patterns.parse(search, ignore_case=given["ignore_case"])
    parts, at, count = [], 0, 0
    for match in pattern.search(text):
        parts += [text[at : match.start()], replacement]
        at, count = match.end(), count + 1
    _check_growth(text, replacement, count)
    return {"text": "".join([*parts, text[at:]]), "count": count}


def _check_growth(text: str, replacement: str, count: int) -> None:
    if count * len(replacement) > 2 * MOST_BYTES + len(text):
        raise refuse("The text becomes larger than 1 MiB. Use a shorter replacement.")


_INPUTS = {
    "text: string": f"The text, up to {patterns.MOST_TEXT:,} characters.",
    "pattern: string": "A regular expression without look-around, references back and nested repeats.",
    "ignore_case?: boolean = false": "Whether upper and lower case are the same.",
}

BUILTINS = (
    define(
        "text.match",
        _match,
        "Looks for the first place that a regular expression matches, such as “^Order ([0-9]+)”.",
        _INPUTS,
        {
            "matched: boolean": "Whether there is one.",
            "text: string": "The text there, or an empty text.",
            "groups: array": "The texts of the groups, null for one that took no part.",
            "named: object": "The texts of the named groups.",
        },
        role=("perceive",),
    ),
    define(
        "text.extract",
        _extract,
        "Collects all places that a regular expression matches, or its group if it has one: “#([0-9]+)”.",
        _INPUTS | {"unique?: boolean = false": "Whether equal texts are listed once."},
        {"items: array": "The texts.", "count: integer": "Their number."},
        role=("perceive",),
    ),
    define(
        "text.replace",
        _replace,
        "Replaces a text, or all places that a regular expression matches. The new text is taken as it is.",
        {
            "text: string": "The text.",
            "search: string": "What to replace.",
            "replacement: string": "The new text.",
            "pattern?: boolean = false": "Whether “search” is a regular expression.",
            "ignore_case?: boolean = false": "Whether upper and lower case are the same in a regular expression.",
        },
        {"text: string": "The new text.", "count: integer": "How often it was replaced."},
    ),
)
