"""Values of runs as text: one entry for each field of an object."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString

from registry.core.workflows.values import Json, canonical
from registry.web.humanize import number
from registry.web.render import marked_text

_MOST_FIELDS = 40


@dataclass(frozen=True, slots=True)
class JsonField:
    """A field, or the whole value if `name` is empty. `cut` says what is not shown."""

    name: str
    html: SafeString
    is_short: bool
    cut: str


def fields_of(value: Json, *, most_chars: int) -> list[JsonField]:
    """Return the fields of an object, or any other value as the only one."""
    if not isinstance(value, Mapping) or not value:
        return [_field("", value, most_chars)]
    fields = [_field(name, each, most_chars) for name, each in list(value.items())[:_MOST_FIELDS]]
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


def _field(name: str, value: Json, most_chars: int) -> JsonField:
    text = _start(value, most_chars + 1)
    shown = text[:most_chars]
    cut = "more" if len(text) > most_chars else ""
    return JsonField(name, marked_text.words(shown), "\n" not in shown and len(shown) <= 80, cut)
