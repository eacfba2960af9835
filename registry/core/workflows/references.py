"""References: texts such as `vars.items.0` that stand for a value of a run.

A reference is a namespace and at least one part: `inputs.name`, `vars.items.0.id`, `vars.items[-1]`,
`vars.found['text.template']`. A part in brackets is an index or quoted text, for keys with other characters than
letters, digits, “_” and “-”. `inputs.*` is the whole namespace. `inputs` alone is text, because the words of the
namespaces are ordinary ones. The local names of a foreach are references alone too: `item`, `item.id`.

All other text is literal. `{"$literal": value}` is the value itself, for text that looks like a reference:
`{"$literal": "output.txt"}`.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from registry.core.text.shorten import one_line, shorten
from registry.core.workflows.copies import Copier
from registry.core.workflows.values import Json, type_of

NAMESPACES = ("inputs", "vars", "outputs", "frame", "working", "output", "extensions")
LITERAL = "$literal"
MOST_CHARACTERS = 1_000  # of a reference; longer text is literal

Path = tuple[str, ...]
Read = Callable[[Path], Json]

_ESCAPED = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
QUOTED = r"""'(?:[^'\\]|\\[\\'"nrt])*'|"(?:[^"\\]|\\[\\'"nrt])*\""""
_NAME, _SEGMENT, _INDEX = r"[A-Za-z_][A-Za-z0-9_-]*", r"[A-Za-z0-9_-]+", r"-?[0-9]+"
_PART = rf"\.{_SEGMENT}|\[(?:{_INDEX}|{QUOTED})\]"
REFERENCE = re.compile(rf"(?P<root>{_NAME})(?:\.\*|(?P<parts>(?:{_PART})*))", re.DOTALL)

_EACH_PART = re.compile(rf"\.(?P<segment>{_SEGMENT})|\[(?P<index>{_INDEX})\]|\[(?P<quoted>{QUOTED})\]", re.DOTALL)
_LETTERS = {ord(character): f"\\{letter}" for letter, character in _ESCAPED.items() if letter != '"'}
_ESCAPE = re.compile(r"\\(.)")
_PLAIN = re.compile(_SEGMENT)
_ITEM = re.compile("-?[0-9]{1,9}")
_RESEMBLES = re.compile(rf"({_NAME})[.\[]\S*")
_SHOWN_KEYS, _SHOWN_CHARACTERS = 8, 40


class Unreadable(Exception):
    """A reference cannot be read. The message names it. In expressions its value is null."""


class Missing(Unreadable):
    """A part of a path does not exist. The message names the part, and what exists in its place."""


def parse(text: str, local_names: Collection[str] = ()) -> Path | None:
    """Return the path of a reference, or None for literal text. Local names win over namespaces."""
    if len(text) > MOST_CHARACTERS:
        return None
    match = REFERENCE.fullmatch(text)
    if match is None:
        return None
    root, parts = match["root"], match["parts"]
    if root not in local_names and (root not in NAMESPACES or parts == ""):
        return None
    return (root, *map(_segment, _EACH_PART.finditer(parts or "")))


def show(path: Path) -> str:
    """Return the text of a reference, which `parse` reads back."""
    return f"{path[0]}.*" if len(path) == 1 and path[0] in NAMESPACES else _joined(path)


def resembles(text: str, local_names: Collection[str] = ()) -> bool:
    """Return whether literal text was probably meant as a reference, such as `vars.items[*]` or `inputs.a..b`."""
    match = _RESEMBLES.fullmatch(text) if len(text) <= MOST_CHARACTERS else None
    known = match is not None and (match[1] in NAMESPACES or match[1] in local_names)
    return known and parse(text, local_names) is None


def references(value: Json, local_names: Collection[str] = ()) -> tuple[Path, ...]:
    """Return the paths of all references in a value, in order and each once."""
    paths = (parse(text, local_names) for text in _texts(value))
    return tuple(dict.fromkeys(path for path in paths if path is not None))


def walk(value: Json, path: Path, start: Path = ()) -> Json:
    """Return the part of a value, or raise Missing. `start` is the path of the value itself, for the message.

    A part is a key of an object, or the index of an item of a list. Negative indices count from the end.
    """
    for position, segment in enumerate(path):
        if isinstance(value, dict) and segment in value:
            value = value[segment]
        elif isinstance(value, list) and _ITEM.fullmatch(segment) and -len(value) <= int(segment) < len(value):
            value = value[int(segment)]
        else:
            raise Missing(_missing(value, segment, (*start, *path[:position])))
    return value


def value_of(path: Path, read: Read, local_values: Mapping[str, Json]) -> Json:
    """Return the value of one reference, or raise Unreadable."""
    if path[0] in local_values:
        return walk(local_values[path[0]], path[1:], path[:1])
    return read(path)


def resolve(
    value: Json, read: Read, local_values: Mapping[str, Json], spend: Callable[[int], None] | None = None
) -> Json:
    """Return a copy of a value with the values of all its references. `spend` gets the number of values.

    Text that was read is never a reference again. Keys are never references. Raise Unreadable if `read` does or a local
    value has no such part, and CopyTooLarge if the result would pass the limits of copies.
    """
    copier = Copier()
    try:
        return _Resolver(read, local_values, copier).resolve(value, (), 0)
    finally:
        if spend is not None:
            spend(copier.work)


def unquote(text: str) -> str:
    """Return the text inside quotes that match QUOTED."""
    return _ESCAPE.sub(lambda match: _ESCAPED[match[1]], text[1:-1])


class _Resolver:
    def __init__(self, read: Read, local_values: Mapping[str, Json], copier: Copier) -> None:
        self._read = read
        self._local_values = local_values
        self._copier = copier

    def resolve(self, value: Json, place: Path, depth: int) -> Json:
        """Return the resolved copy of a part of the value. `place` is its path in the whole value."""
        if isinstance(value, dict):
            if value.keys() == {LITERAL}:
                return self._copier.copy(value[LITERAL], depth)
            self._copier.count(value, depth)
            return {key: self.resolve(item, (*place, key), depth + 1) for key, item in value.items()}
        if isinstance(value, list):
            self._copier.count(value, depth)
            return [self.resolve(item, (*place, str(index)), depth + 1) for index, item in enumerate(value)]
        path = parse(value, self._local_values) if isinstance(value, str) else None
        return self._copier.copy(value if path is None else self._value(path, place), depth)

    def _value(self, path: Path, place: Path) -> Json:
        try:
            return value_of(path, self._read, self._local_values)
        except Unreadable as error:
            if not place:
                raise
            raise Unreadable(f"The input {_joined(place)} cannot be read. {error}") from error


def _segment(part: re.Match[str]) -> str:
    return part["segment"] or part["index"] or unquote(part["quoted"])


def _texts(value: Json) -> Iterator[str]:
    """Yield the texts of a value that may be references, in order."""
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            pending.extend(reversed(value))
        elif isinstance(value, dict) and value.keys() != {LITERAL}:
            pending.extend(reversed(value.values()))


def _joined(path: Path) -> str:
    return path[0] + "".join(f".{part}" if _PLAIN.fullmatch(part) else f"[{_quoted(part)}]" for part in path[1:])


def _quoted(text: str) -> str:
    return f"'{text.translate(_LETTERS)}'"


def _missing(value: Json, segment: str, path: Path) -> str:
    name = shorten(one_line(_joined(path)), 200) if path else "The value"
    part = f"“{_short(segment)}”"
    if isinstance(value, dict):
        return f"{name} has no {part}. {_keys(value)}"
    if isinstance(value, list):
        if not _ITEM.fullmatch(segment):
            return f"{name} has no {part}. It is a list, so write the number of an item, such as 0, or -1 for the last."
        return f"{name} has no item {segment}. " + (
            f"It has {len(value):,} items." if value else "It is an empty list."
        )
    return f"{name} has no {part}, because it is {'null' if value is None else f'of type {type_of(value)}'}."


def _keys(value: Mapping[str, Json]) -> str:
    if not value:
        return "It is empty."
    shown = ", ".join(_short(key) for key, _ in zip(value, range(_SHOWN_KEYS), strict=False))
    more = len(value) - _SHOWN_KEYS
    return f"It has the keys {shown}" + (f" and {more:,} more." if more > 0 else ".")


def _short(text: str) -> str:
    return shorten(one_line(text[:1_000]), _SHOWN_CHARACTERS)
