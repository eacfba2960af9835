"""Calls of HTTP APIs: a method, a URL, headers, a query and a JSON body, all from a template of the operator."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from registry.core.workflows.binding_templates import METHODS, WHOLE_INPUT
from registry.core.workflows.values import Json
from registry.remote import outbound_http
from registry.remote.bindings import answers, references
from registry.remote.bindings.exchange import Exchange, check_body, check_status, checked_header
from registry.remote.bindings.failure import unusable_definition, unusable_input
from registry.remote.bindings.references import resolved, scalar
from registry.remote.bindings.secret_values import Secrets, filled, mentions

IDEMPOTENCY_HEADER = "Idempotency-Key"
_MOST_KEY = 255  # characters, which common APIs accept


def call(
    binding: Mapping[str, Any],
    inputs: Mapping[str, Json],
    *,
    key: str,
    seconds: float,
    secrets: Secrets,
    allowed: frozenset[str],
) -> dict[str, Any]:
    """Return the outputs of a call, or raise BindingFailed. `key` is the same whenever the call is repeated."""
    method = str(binding.get("method", "POST" if "body" in binding else "GET")).upper()
    if method not in METHODS:
        raise unusable_definition(f"`method` of the binding must be one of {', '.join(METHODS)}.")
    for part in ("url", "query", "body"):
        if mentions(binding.get(part)):
            raise unusable_definition(f"`{part}` of the binding contains a secret. Secrets may only be in headers.")
    url = _with_query(references.url(binding.get("url"), inputs), binding.get("query"), inputs)
    content = _body(binding, inputs)
    headers = _headers(binding, inputs, secrets)
    if content:
        headers.setdefault("content-type", "application/json")
    idempotency_header = str(binding.get("idempotency_header", IDEMPOTENCY_HEADER))
    headers[idempotency_header.lower()] = checked_header(idempotency_header, header_key(key))
    host = outbound_http.host_of(str(url))
    response = Exchange.lasting(seconds, allowed).send(method, url, headers=headers, content=content)
    check_status(host, response)
    check_body(host, response)
    value = answers.parse(response.body, host) if response.body.strip() else {}
    return answers.outputs(value, binding.get("outputs"))


def header_key(key: str) -> str:
    """Return an idempotency key that fits into a header. A key that is too long ends with its digest."""
    text = quote(key, safe="/[]#@:,;=+ ")
    return text if len(text) <= _MOST_KEY else f"{text[:180]}~{hashlib.sha256(key.encode()).hexdigest()}"


def service(binding: Mapping[str, Any]) -> str:
    """Return the host and the port of a binding, which are the same for all inputs."""
    return references.authority(binding.get("url")).lower()


def _with_query(url: httpx.URL, template: Json, inputs: Mapping[str, Json]) -> httpx.URL:
    if template is None:
        return url
    if not isinstance(template, Mapping):
        raise unusable_definition("`query` of the binding must be an object.")
    pairs = []
    for name, value in resolved(template, inputs).items():
        several = value if isinstance(value, list) else [value]
        pairs += [(name, scalar(one, f"{name} in the query")) for one in several if one is not None]
    added = urlencode(pairs)
    both = "&".join(part for part in (url.query.decode("ascii"), added) if part)
    return url.copy_with(query=both.encode()) if both else url


def _body(binding: Mapping[str, Any], inputs: Mapping[str, Json]) -> bytes:
    template = binding.get("body")
    if template is None:
        return b""
    body = references.whole(inputs) if template == WHOLE_INPUT else resolved(template, inputs)
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise unusable_input("The input contains text or numbers that JSON cannot hold.") from None


def _headers(binding: Mapping[str, Any], inputs: Mapping[str, Json], secrets: Secrets) -> dict[str, str]:
    """Return the headers, with names in lower case. A value of the input is never searched for secrets."""
    templates = binding.get("headers") or {}
    if not isinstance(templates, Mapping):
        raise unusable_definition("`headers` of the binding must be an object.")
    headers = {"accept": "application/json"}
    for name, template in templates.items():
        if isinstance(template, str) and not template.startswith("input."):
            headers[name.lower()] = checked_header(name, filled(template, secrets))
        elif (value := resolved(template, inputs)) is not None:
            headers[name.lower()] = checked_header(name, scalar(value, f"the header {name}"))
    return headers
