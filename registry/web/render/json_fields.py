"""Values of runs as text: one entry for each field of an object."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.safestring import SafeString, mark_safe

from registry.core.workflows.values import Json, canonical
from registry.web.humanize import number
from registry.web.render import marked_text
from registry.web.render.marked_text import Boxes

_MOST_FIELDS = 40
_PAGE_CHARS = 200_000


@dataclass(slots=True)
class Room:
    """The characters and the boxes of hidden characters that a page may still show."""

    chars: int = _PAGE_CHARS
    boxes: Boxes = field(default_factory=Boxes)


@dataclass(frozen=True, slots=True)
class JsonField:
    """A field, or the whole value if `name` is empty. `cut` says what is not shown."""

    name: str
    html: SafeString
    is_short: bool
    cut: str


def fields_of(value: Json, *, most_chars: int, room: Room) -> list[JsonField]:
    """Return the fields of an object, or any other value as the only one. Each has at most `most_chars`."""
    if not isinstance(value, Mapping) or not value:
        return [_field("", value, most_chars, room)]
    fields = [_field(name, each, most_chars, room) for name, each in list(value.items())[:_MOST_FIELDS]]
    if len(value) > _MOST_FIELDS:
        rest = f"{number(len(value) - _MOST_FIELDS)} more fields"
        fields.append(JsonField("", SafeString(""), is_short=True, cut=rest))
    return fields


def preview(value: Json, most_chars: int) -> str:
    """Return the start of a value on one line."""
    text = " ".join(_start(value, 4 * most_chars, indent=None).split())
    return text if len(text) <= most_chars else f"{text[: most_chars - 1]}…"


def _start(value: Json, most: int, *, indent: int | None = 2) -> str:
    """Return a text as it is, and any other value as JSON, up to a length. The rest costs nothing."""
    if isinstance(value, str):
        return value[:most]
    pieces: list[str] = []
    try:
        for piece in json.JSONEncoder(ensure_ascii=False, indent=indent).iterencode(value):
            pieces.append(piece[:most])
            most -= len(piece)
            if most <= 0:
                break
    except RecursionError:
        return canonical(value)[: most + sum(map(len, pieces))]
    return "".join(pieces)


def _field(name: str, value: Json, most_chars: int, room: Room) -> JsonField:
    most = min(most_chars, room.chars)
    text = _start(value, most + 1)
    shown = text[:most]
    room.chars -= len(shown)
    lines = marked_text.lines(shown, comments=False, boxes=room.boxes)
    html = mark_safe("\n".join(line.html for line in lines))
    return JsonField(name, html, "\n" not in shown and len(shown) <= 80, "more" if len(text) > most else "")
