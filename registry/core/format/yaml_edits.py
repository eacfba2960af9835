"""Edits of a YAML text: values are set, added and removed, and every byte that is not part of them stays.

Each edit reads its result again. If that is not exactly the wanted value, because the text is written in an unusual way
such as with anchors, the edit is refused, and nothing changes.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from registry.core.errors import InvalidSkill, TooLarge
from registry.core.format import strict_yaml, yaml_render, yaml_tree
from registry.core.format.edit_lines import key_text
from registry.core.format.yaml_errors import invalid_skill
from registry.core.format.yaml_tree import Node, Path, Tree
from registry.core.limits import DEFAULT, Limits

RULE = "yaml-edit"
REMOVED: Final = object()  # in place of a value

_COMMENT = re.compile(r"[ \t]+#[^\r\n]*")
_BREAK = re.compile(r"\r\n|\n")

Changes = Mapping[Path, object]
Json = Any


class Renamed(str):
    """In place of a value: the new name of the key itself."""

    __slots__ = ()


def apply(
    text: str, changes: Changes, *, file: str, value: Json = None, order: Iterable[str] = (), limits: Limits = DEFAULT
) -> str:
    """Return the text with these values. Maps that lose their last key are removed too, except in lists.

    `value` is the value of the text, if it is known. `order` has the usual order of keys, for the place of new ones.
    Raise InvalidSkill or TooLarge.
    """
    before = load(text, file, limits) if value is None else value
    changes = _pruned(before, changes)
    edit = _Edit(yaml_tree.parse(text), file, tuple(order))
    edit.change(changes)
    return checked(edit.result(), _expected(before, changes), file=file, limits=limits)


def checked(text: str, expected: Json, *, file: str, limits: Limits = DEFAULT) -> str:
    """Return a text if it stands for exactly this value. Raise InvalidSkill otherwise, or TooLarge."""
    size, most = len(text.encode(errors="replace")), limits.frontmatter_bytes
    if size > most:
        raise TooLarge(f"{file} would have {size:,} bytes. {most:,} are allowed. Nothing was changed.")
    try:
        same = identical(load(text, file, limits), expected)
    except InvalidSkill:
        same = False
    if not same:
        raise refused(file, None)
    return text


def refused(file: str, line: int | None) -> InvalidSkill:
    message = "This part is written in a way that only the text itself can change."
    return invalid_skill(RULE, file, line, message, "Edit it in the text.")


def identical(left: Json, right: Json) -> bool:
    """Return whether two values are equal, with the same types and the same order of keys left out of account."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(identical(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(identical, left, right))
    return type(left) is type(right) and left == right


def newline_of(text: str) -> str:
    found = _BREAK.search(text)
    return found[0] if found else "\n"


def load(text: str, file: str, limits: Limits) -> Json:
    return strict_yaml.load(text, file=file, limits=limits, dialect=strict_yaml.FILE).value


# -- The wanted value ----------------------------------------------------------------------------------------------


def _pruned(value: Json, changes: Changes) -> Changes:
    """Replace the removal of all keys of a map by the removal of the map, and leave out what does not exist."""
    found = {
        path: change
        for path, change in changes.items()
        if change is not REMOVED or path[-1] in (_at(value, path[:-1]) or ())
    }
    while True:
        gone: dict[Path, set[object]] = {}
        for path, change in found.items():
            if change is REMOVED and len(path) > 1:
                gone.setdefault(path[:-1], set()).add(path[-1])
        empty = [
            parent
            for parent, keys in gone.items()
            if isinstance(parent[-1], str)
            and set(_at(value, parent) or ()) <= keys
            and not any(path[: len(parent)] == parent and each is not REMOVED for path, each in found.items())
        ]
        if not empty:
            return found
        for parent in empty:
            found = {path: change for path, change in found.items() if path[: len(parent)] != parent}
            found[parent] = REMOVED


def _at(value: Json, path: Path) -> Json:
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list | tuple) and isinstance(part, int) and 0 <= part < len(value):
            value = value[part]
        else:
            return None
    return value


def _expected(value: Json, changes: Changes) -> Json:
    copied = mutable(value)
    for path, change in changes.items():
        place = copied
        for part in path[:-1]:
            if isinstance(place, dict) and place.get(part) is None:
                place[part] = {}
            place = place[part]
        if change is REMOVED:
            if isinstance(place, dict):
                place.pop(path[-1], None)
        elif isinstance(change, Renamed):
            place[str(change)] = place.pop(path[-1])
        else:
            place[path[-1]] = change
    return copied


def mutable(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: mutable(item) for key, item in value.items()}
    return [mutable(item) for item in value] if isinstance(value, list | tuple) else value


# -- The text ------------------------------------------------------------------------------------------------------


class _Edit:
    """Collects replacements of ranges of the text, then applies them all."""

    def __init__(self, tree: Tree, file: str, order: tuple[str, ...]) -> None:
        self.tree, self.text, self.file, self.order = tree, tree.text, file, order
        self.newline = newline_of(tree.text)
        self.pieces: list[tuple[int, int, str]] = []

    def change(self, changes: Changes) -> None:
        added: dict[Path, dict[str, Any]] = {}
        for path, value in changes.items():
            found = self.tree.find(path)
            if value is REMOVED:
                self.remove(path, found)
            elif isinstance(value, Renamed):
                self.rename(found, value)
            elif found is not None:
                self.replace(path, found, value)
            else:
                self.add(path, value, added)
        for path, values in added.items():
            self.insert(path, values)

    def result(self) -> str:
        text, end = self.text, len(self.text)
        for start, stop, new in sorted(self.pieces, key=lambda piece: piece[:2], reverse=True):
            if stop > end:
                raise self.refuse(start)
            text, end = text[:start] + new + text[stop:], start
        return text

    def refuse(self, at: int) -> InvalidSkill:
        return refused(self.file, self.tree.line_number(at))

    def put(self, start: int, end: int, text: str) -> None:
        self.pieces.append((start, end, text))

    # -- One value

    def replace(self, path: Path, found: tuple[Node | None, Node], value: object) -> None:
        key, node = found
        if self.in_flow(path):
            self.put(node.start, node.end, self.spaced(node, yaml_render.flow(value, self.quotes(node))))
        elif key is None:
            if node.is_block:
                raise self.refuse(node.start)
            self.put(node.start, node.end, self.spaced(node, yaml_render.flow(value, self.quotes(node))))
        elif self.in_lines(value) or node.is_block:
            self.rewrite(key, node, value)
        else:
            self.put(node.start, node.end, self.spaced(node, yaml_render.line(value, self.quotes(node))))

    def quotes(self, node: Node) -> str:
        """Return the quotes of a scalar that has text."""
        return node.style if node.text else ""

    def in_lines(self, value: object) -> bool:
        return bool(value) and (
            isinstance(value, Mapping) or (isinstance(value, str) and bool(yaml_render.literal_mark(value)))
        )

    def spaced(self, node: Node, text: str) -> str:
        return f" {text}" if node.is_missing and not self.text[: node.start].endswith((" ", "\n")) else text

    def rewrite(self, key: Node, node: Node, value: object) -> None:
        """Replace a value that has, or gets, lines of its own. A comment beside the key stays there."""
        colon = self.colon(key)
        end = self.tree.line_end(colon)
        first = self.text[colon:end]
        tail = self.text[node.end : self.tree.line_end(node.end)] if not node.is_block else first
        comment = _COMMENT.search(tail)
        new = "".join(yaml_render.block(value, self.tree.column(key.start) + 2, self.newline))
        head, rest = new.split(self.newline, 1)
        last = max(node.end, colon)
        stop = self.tree.line_end(last)
        body = self.without_break(f"{self.newline}{rest}", stop) if rest else ""
        self.put(colon, stop, f"{head}{comment[0] if comment else ''}{body}")

    def colon(self, key: Node) -> int:
        """Return the offset behind the colon of a key."""
        at = self.text.find(":", key.end)
        if at < 0 or self.text[key.end : at].strip(" "):
            raise self.refuse(key.start)
        return at + 1

    def rename(self, found: tuple[Node | None, Node] | None, name: str) -> None:
        if found is None or found[0] is None:
            raise refused(self.file, None)
        self.put(found[0].start, found[0].end, key_text(str(name)))

    def in_flow(self, path: Path) -> bool:
        """Return whether a value is inside of brackets or braces."""
        nodes = (self.tree.find(path[:length]) for length in range(len(path)))
        return any(each is not None and each[1].is_flow for each in nodes)

    # -- New keys

    def add(self, path: Path, value: object, added: dict[Path, dict[str, Any]]) -> None:
        """Note a new key, below the innermost map that exists."""
        length = len(path) - 1
        while length and self.tree.find(path[:length]) is None:
            length -= 1
        inside = added.setdefault(path[:length], {})
        for part in path[length:-1]:
            inside = inside.setdefault(str(part), {})
        inside[str(path[-1])] = value

    def insert(self, path: Path, values: Mapping[str, Any]) -> None:
        found = self.tree.find(path)
        if found is None:
            raise refused(self.file, None)
        key, node = found
        if node.is_scalar and not node.text and node.is_missing:
            if key is None:
                raise self.refuse(node.start)
            self.replace(path, found, values)
        elif not node.is_map:
            raise self.refuse(node.start)
        elif node.is_flow:
            new = ", ".join(f"{key_text(name)}: {yaml_render.flow(value)}" for name, value in values.items())
            at = node.items[-1][1].end if node.items else node.start + 1
            self.put(at, at, f", {new}" if node.items else new)
        else:
            for name in sorted(values, key=self.rank):
                self.insert_line(node, name, values[name])

    def rank(self, name: str) -> int:
        return self.order.index(name) if name in self.order else len(self.order)

    def insert_line(self, node: Node, name: str, value: object) -> None:
        indent = self.tree.column(node.start)
        before = [each for each in node.items if each[0] and self.rank(each[0].text) <= self.rank(name)]
        key, last = (before or node.items)[-1]
        end = max(last.end, key.end if key else 0)
        lines = "".join(yaml_render.block(value, indent + 2, self.newline))
        at = self.tree.line_end(end)
        new = f"{self.newline}{' ' * indent}{key_text(name)}:{lines}"
        self.put(at, at, self.without_break(new, at))

    def without_break(self, lines: str, at: int) -> str:
        """Return lines without the last line break, which the text has already unless it ends at this place."""
        return lines if at == len(self.text) else lines.removesuffix(self.newline)

    # -- Keys that go away

    def remove(self, path: Path, found: tuple[Node | None, Node] | None) -> None:
        if found is None:
            return
        key, node = found
        parent = self.tree.find(path[:-1])
        if key is None or parent is None:
            raise self.refuse(node.start)
        siblings = parent[1].items
        at = next(index for index, each in enumerate(siblings) if each[0] is key)
        end = max(node.end, self.colon(key))
        if parent[1].is_flow:
            following = siblings[at + 1][0] if at + 1 < len(siblings) else None
            if at and following is None:
                self.put(max(siblings[at - 1][1].end, self.colon_of(siblings[at - 1])), end, "")
            else:
                self.put(key.start, following.start if following else end, "")
            return
        start = self.tree.line_start(key.start)
        if self.text[start : key.start].strip(" "):
            following = siblings[at + 1][0] if at + 1 < len(siblings) else None
            if following is None:
                raise self.refuse(key.start)
            self.put(key.start, following.start, "")
        else:
            self.put(start, self.tree.next_line(end), "")

    def colon_of(self, entry: tuple[Node | None, Node]) -> int:
        return self.colon(entry[0]) if entry[0] else 0
