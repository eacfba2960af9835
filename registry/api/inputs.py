"""Request bodies: the base class that refuses unknown fields, and the inputs that several views share."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.settings import api_settings

from registry.core.errors import InvalidRequest


class StrictInput(serializers.Serializer[Any]):
    """Unknown fields are refused, so that a misspelt one is noticed."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(set(map(str, data)) - set(self.fields))):
            known = f"Known fields: {', '.join(self.fields)}." if self.fields else "This request has no fields."
            message = f"Unknown field: {', '.join(unknown)[:200]}. {known}"
            raise serializers.ValidationError({api_settings.NON_FIELD_ERRORS_KEY: [message]})
        return super().to_internal_value(data)


class GatedInput(StrictInput):
    """The body of a request that publishes something."""

    gate_reason = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        help_text="The reason to publish it although the routing gate refuses it. Only people can give one.",
    )


class NoteInput(StrictInput):
    note = serializers.CharField(required=False, allow_blank=True, default="")


class NothingInput(StrictInput):
    """An empty body, or an empty object."""


def validate(shape: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated body. Raise `ValidationError` or `InvalidRequest` if it does not fit."""
    body = shape(data=request.data)
    try:
        body.is_valid(raise_exception=True)
    except RecursionError:  # the parser has a larger stack left than the fields, which write JSON
        raise InvalidRequest("The JSON is nested too deeply.") from None
    return dict(body.validated_data)


def row_id(text: str) -> int:
    """Return the number in a path, or 0, which no row has, for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
