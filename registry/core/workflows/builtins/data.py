"""Built-in capabilities that take objects apart and put them together."""

from registry.core.workflows.builtins import json_paths
from registry.core.workflows.builtins.definition import Inputs, define, refuse
from registry.core.workflows.values import Json, type_of

MOST_DIFFERENCES = 100


def _echo(given: Inputs) -> dict[str, Json]:
    return {"value": given["value"]}


def _get(given: Inputs) -> dict[str, Json]:
    try:
        return {"value": json_paths.read(given["value"], json_paths.segments(given["path"])), "found": True}
    except json_paths.Missing:
        return {"value": given["default"], "found": False}


def pick(value: Json, paths: dict[str, tuple[str, ...]], subject: str) -> dict[str, Json]:
    picked = {}
    for name, parts in paths.items():
        try:
            picked[name] = json_paths.read(value, parts)
        except json_paths.Missing:
            path = json_paths.shown(".".join(parts))
            raise refuse(f"{subject} has no “{path}”. Use data.get if the value may be missing.") from None
    return picked


def _pick(given: Inputs) -> dict[str, Json]:
    return {"value": pick(given["value"], json_paths.several(given["fields"]), "The object")}


def _omit(given: Inputs) -> dict[str, Json]:
    unwanted = [name for name in given["fields"] if isinstance(name, str)]
    if len(unwanted) != len(given["fields"]):
        raise refuse("Every entry of “fields” must be the name of a field.")
    omitted = set(unwanted)
    return {"value": {name: value for name, value in given["value"].items() if name not in omitted}}


def _merge(given: Inputs) -> dict[str, Json]:
    return {"value": _merged(given["base"], given["changes"]) if given["deep"] else given["base"] | given["changes"]}


def _merged(base: dict[str, Json], changes: dict[str, Json]) -> dict[str, Json]:
    result = dict(base)
    for name, value in changes.items():
        before = result.get(name)
        result[name] = _merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return result


def _compare(given: Inputs) -> dict[str, Json]:
    differences: list[Json] = []
    waiting: list[tuple[tuple[str, ...], Json, Json]] = [((), given["left"], given["right"])]
    while waiting and len(differences) < MOST_DIFFERENCES:
        path, left, right = waiting.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            both = sorted(left.keys() & right.keys(), reverse=True)
            waiting += [((*path, name), left[name], right[name]) for name in both]
            one = sorted(left.keys() ^ right.keys())[:MOST_DIFFERENCES]
            differences += [_difference((*path, name), "added" if name in right else "removed") for name in one]
        elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
            waiting += [((*path, str(at)), left[at], right[at]) for at in reversed(range(len(left)))]
        elif type_of(left) != type_of(right) or left != right:
            differences.append(_difference(path, "changed"))
    return {"equal": not differences, "differences": differences[:MOST_DIFFERENCES]}


def _difference(path: tuple[str, ...], change: str) -> dict[str, Json]:
    return {"path": json_paths.shown(".".join(path)), "change": change}


_OBJECT = {"value: object": "The new object."}

BUILTINS = (
    define(
        "data.echo",
        _echo,
        "Returns its input unchanged. Useful to give a value a name, or to try out a workflow.",
        {"value?: any": "Any value."},
        {"value?: any": "The same value."},
    ),
    define(
        "data.get",
        _get,
        "Reads one value by its path, such as “customer.orders.0.total”, or takes a default.",
        {
            "value?: any": "The object or list to read from.",
            "path: string": "Names and positions from 0, with dots between them.",
            "default?: any": "The value if there is none at the path.",
        },
        {"value?: any": "The value at the path, or the default.", "found: boolean": "Whether there is one."},
    ),
    define(
        "data.pick",
        _pick,
        "Keeps only some fields of an object. A path such as “customer.name” becomes a field of that name.",
        {"value: object": "The object.", "fields: array": "The fields to keep, by name or path."},
        _OBJECT,
    ),
    define(
        "data.rename",
        _pick,
        "Builds an object with new names from values of another: {total: invoice.amount} takes the amount as “total”.",
        {"value: object": "The object.", "fields: object": "New name of each field, and the path of its value."},
        _OBJECT,
    ),
    define(
        "data.omit",
        _omit,
        "Removes fields from an object. Fields that it does not have are ignored.",
        {"value: object": "The object.", "fields: array": "The names of the fields to remove."},
        _OBJECT,
    ),
    define(
        "data.merge",
        _merge,
        "Joins two objects. Where both have a field, the one of “changes” wins.",
        {
            "base: object": "The first object.",
            "changes: object": "The object that wins.",
            "deep?: boolean = false": "Whether objects inside are joined, too, instead of replaced.",
        },
        _OBJECT,
    ),
    define(
        "compare.values",
        _compare,
        f"Compares two values of any kind, and names up to {MOST_DIFFERENCES} places where they differ.",
        {"left?: any": "The first value.", "right?: any": "The second value."},
        {
            "equal: boolean": "Whether both are equal.",
            "differences: array": "Objects with “path” and “change”: added, removed or changed.",
        },
        role=("evaluate",),
    ),
)
