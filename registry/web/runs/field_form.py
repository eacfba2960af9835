"""Forms made from declared fields: for the answer of a person, and for the result of a call."""

import json
import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from registry.core.workflows.values import (
    ARRAY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    Field,
    Fields,
    Json,
    canonical,
)

_INTEGER = re.compile(r"[+-]?\d{1,300}\Z", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,300}(\.\d{1,300})?([eE][+-]?\d{1,3})?\Z", re.ASCII)
_YES, _NO = "yes", "no"
_LABEL_CHARS, _HINT_CHARS = 200, 1_000
_SAMPLES = {OBJECT: '{"name": "value"}', ARRAY: '["first", "second"]'}
_NOUNS = {OBJECT: "an object", ARRAY: "a list"}


class FieldForm(forms.Form):
    """A form with one field for each declared one. `given` returns the value that was typed in.

    Names of fields are free text, so the inputs are numbered.
    """

    def __init__(self, fields: Fields, data: QueryDict | None, *, prefix: str) -> None:
        super().__init__(data, prefix=prefix)
        self._declared = {f"field-{number}": field for number, field in enumerate(fields.values())}
        for name, field in self._declared.items():
            self.fields[name] = _form_field(field)

    def given(self) -> dict[str, Json]:
        """Return the values by the names of the declared fields, without those that were left empty."""
        typed = ((field, self.cleaned_data.get(name)) for name, field in self._declared.items())
        return {field.name: value for field, value in typed if value is not None}


def _form_field(field: Field) -> forms.Field:
    made = {STRING: _Text, INTEGER: _Integer, NUMBER: _Number, BOOLEAN: _YesOrNo}.get(field.type, _Structure)
    options: dict[str, Any] = {
        "label": field.name[:_LABEL_CHARS],
        "required": field.required and not field.has_default,
        "help_text": _hint(field),
        "initial": _initial(field),
    }
    return made(kind=field.type, **options) if made is _Structure else made(**options)


def _hint(field: Field) -> str:
    default = f"If you leave it empty: {_as_text(field)}" if field.has_default and field.default is not None else ""
    return " ".join(part for part in (field.description[:_HINT_CHARS], default[:_HINT_CHARS]) if part)


def _as_text(field: Field) -> str:
    if field.type == BOOLEAN:
        return "Yes" if field.default else "No"
    return field.default if isinstance(field.default, str) else canonical(field.default)


def _initial(field: Field) -> Json:
    if not field.has_default or field.default is None:
        return None
    if field.type == BOOLEAN:
        return _YES if field.default else _NO
    return _as_text(field)


class _Text(forms.CharField):
    """A text. Browsers send line ends as CRLF, and the text has what people typed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": 2}), strip=False, empty_value=None, **options)
        self.error_messages["required"] = "Enter a text."

    def to_python(self, value: Any) -> Any:
        return super().to_python(value.replace("\r\n", "\n") if isinstance(value, str) else value)


class _Integer(forms.Field):
    widget = forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"})

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.error_messages["required"] = "Enter a whole number."

    def to_python(self, value: Any) -> int | None:
        text = str(value or "").strip()
        if not text:
            return None
        if not _INTEGER.match(text):
            raise forms.ValidationError("Enter a whole number with digits only, such as 1200.")
        return int(text)


class _Number(forms.Field):
    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.error_messages["required"] = "Enter a number."

    def to_python(self, value: Any) -> float | None:
        text = str(value or "").strip()
        if not text:
            return None
        if not _NUMBER.match(text):
            raise forms.ValidationError("Enter a number with a point for decimals, such as 0.5.")
        number = int(text) if _INTEGER.match(text) else float(text)
        if number in (float("inf"), float("-inf")):
            raise forms.ValidationError("This number is too large.")
        return number


class _YesOrNo(forms.ChoiceField):
    widget = forms.RadioSelect

    def __init__(self, **options: Any) -> None:
        choices = [(_YES, "Yes"), (_NO, "No")]
        super().__init__(choices=choices if options["required"] else [*choices, ("", "No answer")], **options)
        self.error_messages["required"] = "Choose one."

    def clean(self, value: Any) -> bool | None:
        return {_YES: True, _NO: False}.get(super().clean(value))


class _Structure(forms.Field):
    """An object, a list or any value, as JSON."""

    widget = forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"})

    def __init__(self, *, kind: str, **options: Any) -> None:
        such_as = f", such as {_SAMPLES[kind]}" if kind in _SAMPLES else ""
        hint = f"{options['help_text']} Write {_NOUNS.get(kind, 'it')} as JSON{such_as}."
        super().__init__(**{**options, "help_text": hint.strip()})
        self._kind = kind
        self.error_messages["required"] = f"Enter {_NOUNS.get(kind, 'a value')} as JSON."

    def to_python(self, value: Any) -> Json:
        text = str(value or "").strip()
        if not text:
            return None
        try:
            parsed = json.loads(text, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            raise forms.ValidationError(f"This is not JSON: line {error.lineno}, column {error.colno}.") from None
        except (ValueError, RecursionError):
            raise forms.ValidationError("This is not JSON that can be used.") from None
        wanted: Mapping[str, type] = {OBJECT: dict, ARRAY: list}
        if not isinstance(parsed, wanted.get(self._kind, object)):
            raise forms.ValidationError(f"This is JSON, but not {_NOUNS[self._kind]}, such as {_SAMPLES[self._kind]}.")
        return parsed


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
