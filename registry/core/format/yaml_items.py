"""Edits of the items of a list in a YAML text: items are added, copied, moved and removed with their comments."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from registry.core.format import yaml_edits, yaml_render, yaml_tree
from registry.core.format.yaml_edits import checked, newline_of, refused
from registry.core.format.yaml_tree import Path, Tree
from registry.core.limits import DEFAULT, Limits

_COMMENT_LINE = re.compile(r"[ \t]*#")


@dataclass(frozen=True, slots=True)
class _Item:
    """The lines of an item, with the comments right above it. `end` is the end of its last line."""

    start: int
    end: int
    column: int  # of the dash


@dataclass(frozen=True, slots=True)
class ListText:
    """A list of a text whose items have lines of their own. `path` leads to it from the root.

    `value` is the value of the text, if it is known.
    """

    text: str
    path: Path
    file: str
    limits: Limits = DEFAULT
    value: Any = None

    def insert(self, at: int, item: Mapping[str, Any]) -> str:
        """Return the text with one more item, a map."""
        items, root, expected = self._read()
        expected[at:at] = [dict(item)]
        return self._checked(self._with(items, at, lambda column: self._render(item, column)), root)

    def copy(self, at: int, changes: yaml_edits.Changes) -> str:
        """Return the text with a copy of an item below it. Paths of `changes` start in the copy."""
        items, root, expected = self._read()
        block = self.text[items[at].start : items[at].end]
        expected.insert(at + 1, expected[at])
        copied = self._checked(self._with(items, at + 1, lambda _: block), root)
        moved = {(*self.path, at + 1, *path): value for path, value in changes.items()}
        return yaml_edits.apply(copied, moved, file=self.file, value=root, limits=self.limits)

    def move_up(self, at: int) -> str:
        """Return the text with an item and the one before it swapped."""
        items, root, expected = self._read()
        upper, lower = items[at - 1], items[at]
        expected[at - 1 : at + 1] = [expected[at], expected[at - 1]]
        swapped = (
            self.text[: upper.start]
            + self.text[lower.start : lower.end]
            + self.text[upper.end : lower.start]
            + self.text[upper.start : upper.end]
            + self.text[lower.end :]
        )
        return self._checked(swapped, root)

    def remove(self, at: int) -> str:
        """Return the text without an item. A list without items becomes `[]`."""
        items, root, expected = self._read()
        del expected[at]
        if not expected:
            changed = yaml_edits.apply(self.text, {self.path: []}, file=self.file, limits=self.limits)
            return self._checked(changed, root)
        if at + 1 < len(items):
            start, end = items[at].start, items[at + 1].start
        else:
            start, end = items[at - 1].end, items[at].end
        return self._checked(self.text[:start] + self.text[end:], root)

    # -- Parts

    def _read(self) -> tuple[list[_Item], Any, list[Any]]:
        """Return the lines of the items, the value of the file, and the list in this value. Both can be changed."""
        known = yaml_edits.load(self.text, self.file, self.limits) if self.value is None else self.value
        root = yaml_edits.mutable(known)
        place = root
        for part in self.path[:-1]:
            place = place.get(part) if isinstance(place, dict) else None
        found = place.get(self.path[-1]) if isinstance(place, dict) else None
        if not isinstance(place, dict) or not isinstance(found, list | None):
            raise refused(self.file, None)
        place[self.path[-1]] = found = found or []
        return list(self._items(yaml_tree.parse(self.text))), root, found

    def _items(self, tree: Tree) -> Iterator[_Item]:
        found = tree.find(self.path)
        if found is None or not found[1].items:
            return
        node = found[1]
        if not node.is_list or node.is_flow:
            raise refused(self.file, tree.line_number(node.start))
        column, behind, previous = tree.column(node.start), tree.line_start(node.start), False
        for _, item in node.items:
            start = behind
            while tree.text[start : start + column].strip(" ") or tree.text[start + column : start + column + 1] != "-":
                if start >= item.start or tree.next_line(start) == start:
                    raise refused(self.file, tree.line_number(item.start))
                start = tree.next_line(start)
            first, above = start, behind if previous else 0
            while first > above and _COMMENT_LINE.match(tree.text, tree.line_start(first - 1), first - 1):
                first = tree.line_start(first - 1)
            end = tree.line_end(max(item.end, start))
            yield _Item(first, end, column)
            behind, previous = tree.next_line(end), True

    def _with(self, items: list[_Item], at: int, render: Callable[[int], str]) -> str:
        newline = newline_of(self.text)
        if not items:
            return self._first(render)
        block = render(items[0].column)
        gap = self.text[items[0].end : items[1].start] if len(items) > 1 else newline
        gap = gap if gap.strip(" \r\n") == "" and gap else newline
        if at < len(items):
            return self.text[: items[at].start] + block + gap + self.text[items[at].start :]
        end = items[-1].end
        return self.text[:end] + gap + block + (self.text[end:] or newline)

    def _first(self, render: Callable[[int], str]) -> str:
        """Return the text with the first item. The list is missing, or empty."""
        newline, mark = newline_of(self.text), "first-item"
        text = yaml_edits.apply(self.text, {self.path: mark}, file=self.file, limits=self.limits)
        tree = yaml_tree.parse(text)
        found = tree.find(self.path)
        key, node = found or (None, None)
        if key is None or node is None:
            raise refused(self.file, None)
        indent, colon = tree.column(key.start) + 2, text.rfind(":", 0, node.start) + 1
        end = tree.line_end(node.start)
        return f"{text[:colon]}{text[node.end : end]}{newline}{render(indent)}{text[end:] or newline}"

    def _render(self, item: Mapping[str, Any], column: int) -> str:
        newline = newline_of(self.text)
        lines = []
        for name, value in item.items():
            lines.append(f"{' ' * (column + 2)}{name}:")
            lines.extend(yaml_render.block(value, column + 4, newline))
        text = "".join(lines).removesuffix(newline)
        return f"{' ' * column}- {text[column + 2 :]}"

    def _checked(self, text: str, root: Any) -> str:
        return checked(text, root, file=self.file, limits=self.limits)
