"""Built-in capabilities for lists."""

from collections.abc import Iterator

from registry.core.workflows.builtins import json_paths, templates
from registry.core.workflows.builtins.data import pick
from registry.core.workflows.builtins.definition import MOST_BYTES, Inputs, define, refuse
from registry.core.workflows.values import Json, canonical, type_of

MOST_ITEMS = 20_000  # of lists that are built by work on each item

_RANK = {"null": 3, "boolean": 0, "integer": 1, "number": 1, "string": 2}  # other types are last


def check_count(items: list[Json], name: str = "items") -> None:
    if len(items) > MOST_ITEMS:
        raise refuse(f"“{name}” has {len(items):,} entries, and {MOST_ITEMS:,} are allowed. Work on a part of it.")


def _by(given: Inputs) -> tuple[str, ...]:
    return () if given["by"] is None else json_paths.segments(given["by"])


def _map(given: Inputs) -> dict[str, Json]:
    check_count(given["items"])
    ways = [name for name in ("template", "fields", "path") if given[name] is not None]
    if len(ways) != 1:
        raise refuse(
            "Give exactly one of “template”, “fields” and “path”, so that it is clear what to make of an item."
        )
    return {"items": list(_mapped(given, ways[0]))}


def _mapped(given: Inputs, way: str) -> Iterator[Json]:
    if way == "template":
        template, left = templates.parse(given["template"]), MOST_BYTES
        if len(template.places) * len(given["items"]) > 10 * templates.MOST_PLACES:
            raise refuse(
                "The template has too many places for variables for this many items. Work on a part of the list."
            )
        for index, item in enumerate(given["items"]):
            text = template.fill({"item": item, "index": index}, left)
            left -= len(text)
            yield text
        return
    paths = json_paths.several(given["fields"]) if way == "fields" else {"": json_paths.segments(given["path"])}
    if len(paths) * len(given["items"]) > 10 * MOST_ITEMS:
        raise refuse("There are too many fields for this many items. Work on a part of the list.")
    for index, item in enumerate(given["items"]):
        picked = pick(item, paths, f"Item {index}")
        yield picked if way == "fields" else picked[""]


def _sort(given: Inputs) -> dict[str, Json]:
    check_count(given["items"])
    parts = _by(given)
    keyed = [(_order(json_paths.read_or_none(item, parts)), item) for item in given["items"]]
    missing = [item for key, item in keyed if key[0] == _RANK["null"]]
    known = sorted((pair for pair in keyed if pair[0][0] != _RANK["null"]), key=_key, reverse=given["descending"])
    return {"items": [item for _, item in known] + missing}


def _key(pair: tuple[tuple[int, Json], Json]) -> tuple[int, Json]:
    return pair[0]


def _order(value: Json) -> tuple[int, Json]:
    rank = _RANK.get(type_of(value), 4)
    return (rank, 0) if value is None else (rank, canonical(value) if rank == 4 else value)


def _group(given: Inputs) -> dict[str, Json]:
    check_count(given["items"])
    groups: dict[str, dict[str, Json]] = {}
    for item in given["items"]:
        key = json_paths.read_or_none(item, _by(given))
        group = groups.setdefault(canonical(key), {"key": key, "count": 0, "items": []})
        group["count"] += 1
        group["items"].append(item)
    return {"groups": list(groups.values())}


def _unique(given: Inputs) -> dict[str, Json]:
    check_count(given["items"])
    parts = _by(given)
    first: dict[str, Json] = {}
    for item in given["items"]:
        first.setdefault(canonical(json_paths.read_or_none(item, parts)), item)
    return {"items": list(first.values()), "removed": len(given["items"]) - len(first)}


def _join(given: Inputs) -> dict[str, Json]:
    if len(given["items"]) * len(given["separator"]) > MOST_BYTES:
        raise refuse("The text becomes larger than 1 MiB. Use a shorter separator, or work on a part of the list.")
    return {"text": given["separator"].join(map(templates.as_text, given["items"]))}


def _split(given: Inputs) -> dict[str, Json]:
    if not given["separator"]:
        raise refuse("“separator” is empty. Give the text between the parts, such as a comma.")
    if given["text"].count(given["separator"]) >= 5 * MOST_ITEMS:
        raise refuse(f"The text has more than {5 * MOST_ITEMS:,} parts. Split a part of it.")
    parts = given["text"].split(given["separator"])
    return {"items": [part.strip() for part in parts if part.strip()] if given["tidy"] else parts}


def _count(given: Inputs) -> dict[str, Json]:
    return {"count": len(given["items"]), "empty": not given["items"]}


def _slice(given: Inputs) -> dict[str, Json]:
    start, count = given["start"], given["count"]
    if start < 0 or (count is not None and count < 0):
        raise refuse("“start” and “count” cannot be negative. Positions start at 0.")
    return {"items": given["items"][start:] if count is None else given["items"][start : start + count]}


def _flatten(given: Inputs) -> dict[str, Json]:
    flat: list[Json] = []
    for item in given["items"]:
        flat.extend(item if isinstance(item, list) else [item])
    return {"items": flat}


_ITEMS = {"items: array": "The list."}
_NEW = {"items: array": "The new list."}
_BY = {"by?: string": "The path of the value that counts in each item, such as “customer.name”. By default the item."}

BUILTINS = (
    define(
        "data.map",
        _map,
        "Makes something new of each item: a text such as “{{item.name}}: {{index}}”, an object, or one value.",
        _ITEMS
        | {
            "template?: string": "A template that reads {{item}} and {{index}}.",
            "fields?: object": "New name of each field, and the path of its value in the item.",
            "path?: string": "The path of the one value to take from each item.",
        },
        _NEW,
    ),
    define(
        "data.sort",
        _sort,
        "Sorts a list. Equal items keep their order, and items without the value are last.",
        _ITEMS | _BY | {"descending?: boolean = false": "Whether the largest is first."},
        _NEW,
    ),
    define(
        "data.group",
        _group,
        "Puts items with the same value together.",
        _ITEMS | _BY,
        {"groups: array": "Objects with “key”, “count” and “items”, in the order of their first item."},
    ),
    define(
        "data.unique",
        _unique,
        "Keeps the first of equal items.",
        _ITEMS | _BY,
        _NEW | {"removed: integer": "The number of items that were left out."},
    ),
    define(
        "data.join",
        _join,
        "Joins the items of a list to one text. Items that are no text are written as JSON.",
        _ITEMS | {'separator?: string = ", "': "The text between the items."},
        {"text: string": "The text."},
    ),
    define(
        "data.split",
        _split,
        "Splits a text into a list.",
        {
            "text: string": "The text.",
            'separator?: string = ","': "The text between the parts.",
            "tidy?: boolean = true": "Whether spaces around the parts and empty parts are removed.",
        },
        {"items: array": "The parts."},
    ),
    define(
        "data.count",
        _count,
        "Counts the items of a list.",
        _ITEMS,
        {"count: integer": "The number of items.", "empty: boolean": "Whether there is none."},
    ),
    define(
        "data.slice",
        _slice,
        "Takes a part of a list.",
        _ITEMS | {"start?: integer = 0": "The first position, from 0.", "count?: integer": "The most items to take."},
        _NEW,
    ),
    define("data.flatten", _flatten, "Replaces lists in a list by their items, one level deep.", _ITEMS, _NEW),
)
