"""The OpenAPI document. It is committed, so that a review shows every change. `make openapi` writes it."""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, NotRequired, TypedDict
from unittest.mock import ANY

import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from rest_framework.serializers import Serializer

from registry.api import openapi
from registry.lib.json_types import OneOf, Timestamp
from tests.api import contract


class Other(TypedDict):
    name: str


class Sample(TypedDict):
    """A sample."""

    count: Annotated[int, "How many."]
    at: Timestamp
    gone_at: Timestamp | None
    kind: Annotated[str, OneOf(("a", "b")), "A kind."]
    others: list[Other]
    other: Other | None
    more: dict[str, Any]
    note: NotRequired[str]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    GENERATOR_STATS.reset()
    generated = SchemaGenerator().get_schema(request=None, public=True)
    assert not GENERATOR_STATS, "the API cannot be described completely; `make openapi` prints the warnings"
    loaded: dict[str, Any] = json.loads(json.dumps(generated))
    return loaded


def routes(where: Any = None, before: str = "") -> Iterator[str]:
    """Yield every route below /api as the URL configuration writes it."""
    for pattern in (where or get_resolver("registry.api.urls")).url_patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, f"{before}{pattern.pattern}")
        else:
            yield f"{before}{pattern.pattern}"


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in {"get", "post", "put", "patch", "delete"}
    ]


def test_the_document_equals_the_committed_file(document: dict[str, Any]) -> None:
    assert document == json.loads(contract.DOCUMENT.read_text()), (
        "the API changed: run `make openapi` and review the difference"
    )


def test_the_document_is_valid(document: dict[str, Any]) -> None:
    validate_schema(document)


def test_every_path_is_documented(document: dict[str, Any]) -> None:
    found = {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route) for route in routes()}
    assert {f"/api/{route}" for route in found if not route.startswith(("schema/", "docs/"))} == set(document["paths"])


def test_every_path_starts_with_a_version_and_a_project() -> None:
    assert {route.partition("/<str:project>/")[0] for route in routes()} == {"v1/projects", "schema/", "docs/"}


def test_every_operation_has_an_id_a_summary_and_an_error(document: dict[str, Any]) -> None:
    found = operations(document)
    names = [operation["operationId"] for _, _, operation in found]
    assert len(set(names)) == len(names)
    for path, method, operation in found:
        assert operation.get("summary"), f"{method} {path}"
        problem = operation["responses"]["default"]["content"]["application/problem+json"]["schema"]
        assert problem == {"$ref": "#/components/schemas/ProblemShape"}, f"{method} {path}"
        assert operation["security"] == [{"token": []}], f"{method} {path}"


def test_the_document_and_the_docs_page_need_no_token() -> None:
    document = Client().get("/api/schema/", headers={"Accept": "application/json"})
    assert document.status_code == 200
    reader = Client().get("/api/docs/")
    assert reader.status_code == 200
    assert b"http://" not in reader.content
    assert b"https://" not in reader.content


@pytest.mark.parametrize(("asked", "start"), [("", b"openapi:"), ("?format=yaml", b"openapi:"), ("?format=json", b"{")])
def test_the_document_is_served_in_the_requested_format(asked: str, start: bytes) -> None:
    assert Client().get(f"/api/schema/{asked}").content.startswith(start)
    assert Client().get("/api/schema/?format=odd").status_code == 404


def test_a_typed_dict_becomes_a_component() -> None:
    schema = openapi.describe(Sample, lambda nested: {"$ref": nested.__name__})
    assert schema == {
        "type": "object",
        "description": "A sample.",
        "required": ["at", "count", "gone_at", "kind", "more", "other", "others"],
        "properties": {
            "count": {"type": "integer", "description": "How many."},
            "at": {"type": "string", "format": "date-time"},
            "gone_at": {"type": "string", "format": "date-time", "nullable": True},
            "kind": {
                "type": "string",
                "enum": ["a", "b"],
                "x-spec-enum-id": ANY,
                "description": "A kind.\n\n* `a` - a\n* `b` - b",
            },
            "others": {"type": "array", "items": {"$ref": "Other"}},
            "other": {"allOf": [{"$ref": "Other"}], "nullable": True},
            "more": {"type": "object", "additionalProperties": {}},
            "note": {"type": "string"},
        },
    }


def test_no_answer_is_described_by_a_serializer(document: dict[str, Any]) -> None:
    """The component of a request body ends with Request; any other component describes an answer."""
    serializers = {each.__name__ for each in subclasses(Serializer) if each.__module__.startswith("registry.")}
    assert {f"{name}Request" for name in serializers} & set(document["components"]["schemas"])
    assert not serializers & set(document["components"]["schemas"])


def subclasses(parent: type) -> set[type]:
    return {parent, *(each for child in parent.__subclasses__() for each in subclasses(child))}


def test_the_document_is_generated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "/api/schema/?format=json"
    first = Client().get(asked)
    assert json.loads(first.content)["openapi"]
    monkeypatch.delattr(SchemaGenerator, "get_schema")
    again = Client().get(f"{asked}&version=2&lang=de")
    assert (again.status_code, again.content) == (200, first.content)
    assert again["Content-Type"] == first["Content-Type"]
