"""A test client that holds every answer of the API to the OpenAPI document.

It is stricter than the document: an answer with a key that its schema does not name fails too. Only errors may have
more keys, as their description says.
"""

import json
import re
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from django.test import Client
from jsonschema import Draft202012Validator, FormatChecker

DOCUMENT = Path(__file__).with_name("openapi.json")
PROBLEM_JSON = "application/problem+json"
_PROBLEM = {"content": {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/ProblemShape"}}}}
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")

_formats = FormatChecker(formats=())


@_formats.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


class ContractClient(Client):
    def request(self, **request: Any) -> Any:
        response = super().request(**request)
        match = response.wsgi_request.resolver_match
        if match is not None and match.route.startswith("api/v1/") and request["REQUEST_METHOD"] != "OPTIONS":
            body = None if response.streaming else response.content
            path = _PARAMETER.sub(r"{\1}", match.route)
            check(f"/{path}", request["REQUEST_METHOD"], response.status_code, response.get("Content-Type", ""), body)
        return response


def check(path: str, method: str, status: int, content_type: str, body: bytes | None) -> None:
    """Raise AssertionError unless the document promises this answer. `body` is None if it was streamed."""
    if status == 304:
        return
    name = f"{method} {path} {status}"
    operation = _document()["paths"][path].get("get" if method == "HEAD" else method.lower(), {})
    responses = operation.get("responses", {})
    assert str(status) in responses or status >= 400, f"{name} is not documented"
    content = responses.get(str(status), _PROBLEM).get("content", {})
    media_type = content_type.partition(";")[0]
    assert media_type in content if content else not body, f"{name} has an undocumented body of type {media_type!r}"
    if body and method != "HEAD" and media_type in ("application/json", PROBLEM_JSON):
        validate(json.loads(body), content[media_type]["schema"])


def validate(answer: Any, schema: dict[str, Any]) -> None:
    errors = sorted(_validator(json.dumps(schema)).iter_errors(answer), key=str)
    assert not errors, "\n".join(f"{error.json_path}: {error.message}" for error in errors[:5])


def problem(response: Any, status: int, code: str) -> dict[str, Any]:
    """Return the body of an error. Raise AssertionError unless it has this status and code."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == PROBLEM_JSON
    assert response["Cache-Control"] == "no-store"
    body: dict[str, Any] = response.json()
    assert (body["status"], body["code"], body["type"]) == (status, code, "about:blank")
    assert body["title"]
    assert body["detail"]
    return body


@cache
def _document() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(DOCUMENT.read_text())
    return loaded


@cache
def _validator(schema: str) -> Draft202012Validator:
    schemas = {
        name: _json_schema(component, closed=name != "ProblemShape")
        for name, component in _document()["components"]["schemas"].items()
    }
    root = {**json.loads(schema), "components": {"schemas": schemas}}
    return Draft202012Validator(root, format_checker=_formats)


def _json_schema(node: Any, *, closed: bool) -> Any:
    """Return a schema of OpenAPI 3.0 as JSON Schema. A closed one allows no other keys than those it names."""
    if isinstance(node, list):
        return [_json_schema(each, closed=closed) for each in node]
    if not isinstance(node, dict):
        return node
    schema = {key: _json_schema(value, closed=closed) for key, value in node.items() if key != "nullable"}
    if closed and "properties" in node and node.get("type") == "object":
        schema["additionalProperties"] = False
    return {"anyOf": [schema, {"type": "null"}]} if node.get("nullable") else schema
