"""Form fields for values of declared types: inputs of a run, answers of people, and results of calls."""

import json
import math
import re
from typing import Any, NoReturn

from django import forms

from registry.core.workflows.values import ANY, ARRAY, BOOLEAN, INTEGER, NUMBER, OBJECT, STRING, Field, Json
from registry.web.render import marked_text

_NUMBER_CHARS = 60
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_LABEL_CHARS, _HELP_CHARS = 200, 1_000
_LONG_TEXT = 60  # characters of a default that gets a larger box
_YES, _NO = "yes", "no"
_HELP = {
    NUMBER: "A number, such as 2.5.",
    INTEGER: "A whole number.",
    OBJECT: 'JSON, such as {"name": "Ada"}.',
    ARRAY: "One text per line, or JSON that starts with [.",
    ANY: 'JSON, such as "text", 12 or {"name": "Ada"}.',
}
_ROWS = {OBJECT: 5, ARRAY: 4, ANY: 3}


class ValueField(forms.Field):
    """A text that becomes a value of the declared type, and None if it is empty."""

    def __init__(self, declared: Field, **more: Any) -> None:
        super().__init__(**more)
        self.declared = declared

    @property
    def aside(self) -> str:
        return "required" if self.required else "optional"

    def to_python(self, value: Any) -> Json:
        text = str(value or "").replace("\r\n", "\n")
        if self.declared.type == STRING:
            # An emptied box of a text with a default means the empty text, because the form had filled it in.
            return text or ("" if self.declared.has_default and not self.declared.required else None)
        text = text.strip()
        return _READERS[self.declared.type](text) if text else None

    def as_text(self, value: Json) -> str:
        """Return a value as a person types it."""
        if value is None:
            return ""
        if self.declared.type == STRING:
            return str(value)
        if self.declared.type == BOOLEAN:
            return _YES if value else _NO
        return json.dumps(value, ensure_ascii=False, indent=2 if self.declared.type in _ROWS else None)

    def validate(self, value: Json) -> None:
        if value is None and self.required:
            raise forms.ValidationError(self.error_messages["required"], code="required")


def value_field(declared: Field, *, missing: str) -> ValueField:
    """Return the form field of a declared one. `missing` is the error if it is required and empty."""
    notes = " ".join(
        filter(None, (declared.description[:_HELP_CHARS], _HELP.get(declared.type, ""), _empty_note(declared)))
    )
    required = declared.required and not declared.has_default
    field = ValueField(
        declared, label=marked_text.inline(declared.name[:_LABEL_CHARS]), required=required,
        help_text=marked_text.inline(notes), widget=_widget(declared),
        error_messages={"required": missing},
    )  # fmt: skip
    field.initial = field.as_text(declared.default)
    return field


def _empty_note(declared: Field) -> str:
    if declared.type in (STRING, BOOLEAN) or not declared.has_default or declared.default is None:
        return ""
    return "If it is empty, the default is used."


def _widget(declared: Field) -> forms.Widget:
    if declared.type == BOOLEAN:
        empty = () if declared.has_default and declared.default is not None else (("", "Choose"),)
        return forms.Select(choices=[*empty, (_YES, "Yes"), (_NO, "No")])
    if declared.type in (NUMBER, INTEGER):
        mode = "numeric" if declared.type == INTEGER else "decimal"
        return forms.TextInput(attrs={"inputmode": mode, "autocomplete": "off", "maxlength": _NUMBER_CHARS})
    default = str(declared.default or "")
    rows = _ROWS.get(declared.type, 4 if len(default) > _LONG_TEXT or "\n" in default else 2)
    return forms.Textarea(attrs={"rows": rows, "spellcheck": "true" if declared.type == STRING else "false"})


# -- Texts of each type --------------------------------------------------------------------------------------


def _number(text: str) -> Json:
    try:
        if len(text) > _NUMBER_CHARS:
            raise ValueError
        if not _NUMBER.match(text):
            raise ValueError
        value = int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        raise forms.ValidationError("Enter a number such as 2.5. Use a point, and no other characters.") from None
    if not math.isfinite(value):
        raise forms.ValidationError("This number is too large.")
    return value


def _integer(text: str) -> Json:
    if len(text) > _NUMBER_CHARS or not text.isascii() or not text.lstrip("+-").isdecimal():
        raise forms.ValidationError("Enter a whole number such as 12, without other characters.")
    try:
        return int(text)
    except ValueError:
        raise forms.ValidationError("Enter a whole number such as 12, without other characters.") from None


def _boolean(text: str) -> Json:
    if text not in (_YES, _NO):
        raise forms.ValidationError("Choose yes or no.")
    return text == _YES


def _object(text: str) -> Json:
    value = _json(text)
    if not isinstance(value, dict):
        raise forms.ValidationError('Enter a JSON object: it starts with { and ends with }, such as {"name": "Ada"}.')
    return value


def _array(text: str) -> Json:
    if not text.startswith("["):
        return [line.strip() for line in text.split("\n") if line.strip()]
    return _json(text)


def _json(text: str) -> Json:
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # half of a character cannot be stored
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise forms.ValidationError(f"This is not JSON: {error.msg.lower()} at {place}.") from None
    except UnicodeEncodeError:
        raise forms.ValidationError("This JSON has an escape such as \\ud800, which is half of a character.") from None
    except ValueError as error:
        raise forms.ValidationError(f"This JSON cannot be used: {error}") from None
    except RecursionError:
        raise forms.ValidationError("This JSON is nested too deeply.") from None
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key “{name[:40]}” appears twice.")
        found[name] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON.")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large.")
    return value


_READERS = {NUMBER: _number, INTEGER: _integer, BOOLEAN: _boolean, OBJECT: _object, ARRAY: _array, ANY: _json}
