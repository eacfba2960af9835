"""The OpenAPI schema: a component for each answer, and the same error for each operation."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import append_meta, build_array_type, build_basic_type, build_choice_field
from rest_framework import serializers

from registry.api.answers import ProblemShape
from registry.lib.json_types import Format, OneOf

Reference = Callable[[type], dict[str, Any]]


class Schema(AutoSchema):
    def get_description(self) -> str:  # type: ignore[override]
        """Return nothing: the docstrings of views are for developers."""
        return ""

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        media_types = ["application/problem+json"]
        problem = self._get_response_for_code(ProblemShape, "default", media_types, direction)
        return {**bodies, "default": problem}

    def _get_response_for_code(
        self, serializer: Any, status_code: str, media_types: list[str] | None = None, direction: Any = "response"
    ) -> dict[str, Any]:
        """Describe a union of answers as `anyOf`."""
        if isinstance(serializer, UnionType):
            references = [self.resolve_serializer(answer, direction).ref for answer in get_args(serializer)]
            serializer = {"anyOf": references}
        response = super()._get_response_for_code(serializer, status_code, media_types, direction)  # type: ignore[no-untyped-call]
        return dict(response)


class AnswerComponent(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Describes an answer, which is a TypedDict, as a component with the name of its class."""

    @classmethod
    def _matches(cls, target: Any) -> bool:
        return is_typeddict(target)

    def get_name(self, auto_schema: AutoSchema, direction: Any) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        return describe(self.target, lambda nested: dict(auto_schema.resolve_serializer(nested, direction).ref))


def describe(answer: type, reference: Reference) -> dict[str, Any]:
    """Return the schema of a TypedDict. `reference` gives the `$ref` of the TypedDicts inside it."""
    keys = get_type_hints(answer, include_extras=True)
    schema = {
        "type": "object",
        "properties": {key: _describe(hint, reference) for key, hint in keys.items()},
        "required": sorted(answer.__required_keys__),  # type: ignore[attr-defined]
    }
    return {**schema, "description": answer.__doc__} if answer.__doc__ else schema


def _describe(hint: Any, reference: Reference) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is NotRequired:
        return _describe(arguments[0], reference)
    if origin is Annotated:
        return _narrow(_describe(arguments[0], reference), arguments[1:])
    if origin in (Union, UnionType):
        [value] = [each for each in arguments if each is not NoneType]
        return dict(append_meta(_describe(value, reference), {"nullable": True}))
    if origin is list:
        return dict(build_array_type(_describe(arguments[0], reference)))
    if origin is dict:
        return {"type": "object", "additionalProperties": _describe(arguments[1], reference)}
    if is_typeddict(hint):
        return reference(hint)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _choice(map(str, hint))
    return {} if hint is Any else dict(build_basic_type(hint) or {})


def _narrow(schema: dict[str, Any], metadata: Iterable[Any]) -> dict[str, Any]:
    for each in metadata:
        if isinstance(each, OneOf):
            schema = _choice(each.values)
        elif isinstance(each, Format):
            schema = {**schema, "format": each.name}
        else:
            texts = [each, schema["description"]] if "description" in schema else [each]
            schema = dict(append_meta(schema, {"description": "\n\n".join(texts)}))
    return schema


def _choice(values: Iterable[str]) -> dict[str, Any]:
    """Return the schema that drf-spectacular makes of a choice, so that equal choices share one component."""
    return dict(build_choice_field(serializers.ChoiceField(choices=list(values))))
