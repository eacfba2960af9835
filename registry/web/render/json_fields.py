"""Values of runs as text: one entry for each field of an object."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString

from registry.core.workflows.values import Json
from registry.web.humanize import number
from registry.web.render import marked_text

_MOST_FIELDS = 40


@dataclass(frozen=True, slots=True)
class JsonField:
    """A field, or the whole value if `name` is empty. `cut` says how much of it is not shown."""

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


def as_text(value: Json) -> str:
    """Return a text as it is, and any other value as JSON for people."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def preview(value: Json, most_chars: int) -> str:
    """Return the start of a value on one line."""
    text = " ".join("".join(_start(value, 4 * most_chars)).split())
    return text if len(text) <= most_chars else f"{text[: most_chars - 1]}…"


def _start(value: Json, most: int) -> Iterator[str]:
    """Yield the JSON of a value up to a length, so that the rest costs nothing."""
    if isinstance(value, str):
        yield value[:most]
        return
    for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
        yield piece[:most]
        most -= len(piece)
        if most <= 0:
            return


def _field(name: str, value: Json, most_chars: int) -> JsonField:
    text = as_text(value)
    shown = text[:most_chars]
    cut = f"{number(len(text) - most_chars)} more characters" if len(text) > most_chars else ""
    return JsonField(name, marked_text.words(shown), "\n" not in shown and len(shown) <= 80, cut)
