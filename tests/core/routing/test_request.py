"""The request to route a question: every refusal names its field."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.errors import InvalidRequest
from registry.core.routing import request
from registry.core.routing.request import RouteRequest, parse

REFUSED = [
    ({}, "query"),
    ({"query": None}, "query"),
    ({"query": 3}, "query"),
    ({"query": True}, "query"),
    ({"query": ["pod"]}, "query"),
    ({"query": "x" * 20_001}, "query"),
    ({"query": "x", "limit": 0}, "limit"),
    ({"query": "x", "limit": 1_001}, "limit"),
    ({"query": "x", "limit": -1}, "limit"),
    ({"query": "x", "limit": 10**400}, "limit"),
    ({"query": "x", "limit": 2.5}, "limit"),
    ({"query": "x", "limit": "5"}, "limit"),
    ({"query": "x", "limit": True}, "limit"),
    ({"query": "x", "limit": float("inf")}, "limit"),
    ({"query": "x", "limit": float("nan")}, "limit"),
    ({"query": "x", "kind": "tools"}, "kind"),
    ({"query": "x", "kind": 1}, "kind"),
    ({"query": "x", "kind": ["tool"]}, "kind"),
    ({"query": "x", "threshold": -0.1}, "threshold"),
    ({"query": "x", "threshold": 1.1}, "threshold"),
    ({"query": "x", "threshold": 10**400}, "threshold"),
    ({"query": "x", "threshold": "0"}, "threshold"),
    ({"query": "x", "threshold": False}, "threshold"),
    ({"query": "x", "threshold": float("inf")}, "threshold"),
    ({"query": "x", "threshold": float("nan")}, "threshold"),
    ({"query": "x", "top_k": 5}, "top_k"),
    ({"Query": "x"}, "Query"),
]


@pytest.mark.parametrize(("body", "field"), REFUSED, ids=lambda value: repr(value)[:40])
def test_a_wrong_value_is_refused_by_its_field(body: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse(body)
    assert refused.value.field == field
    assert len(refused.value.message) < 300


@pytest.mark.parametrize("body", [None, [], "query", 3, True])
def test_a_body_that_is_no_object_is_refused(body: Any) -> None:
    with pytest.raises(InvalidRequest, match="JSON object"):
        parse(body)


def test_a_field_that_the_caller_does_not_offer_is_refused() -> None:
    with pytest.raises(InvalidRequest, match=r"Unknown field: threshold\. Known fields: query, limit, kind\."):
        parse({"query": "x", "threshold": 0}, ("query", "limit", "kind"))


def test_defaults_and_null_are_the_same() -> None:
    unset = {"limit": None, "kind": None, "threshold": None}
    assert parse({"query": "x"}) == parse({"query": "x", **unset}) == RouteRequest("x", 5, "", None)


def test_the_threshold_zero_has_no_sign() -> None:
    assert str(parse({"query": "x", "threshold": -0.0}).threshold) == "0.0"


def test_a_kind_may_be_spelt_as_in_an_old_header() -> None:
    assert parse({"query": "x", "kind": "host-knowledge"}).kind == "knowledge"


def test_whole_numbers_may_be_written_as_floats() -> None:
    assert parse(json.loads('{"query": "", "limit": 7.0, "threshold": 1}')) == RouteRequest("", 7, "", 1.0)


def test_characters_that_cannot_be_stored_become_spaces() -> None:
    assert parse({"query": "pod\0crash\ud83d loop"}).query == "pod crash  loop"


@given(st.text(st.characters()))
def test_a_readable_text_can_be_encoded_and_has_the_same_length(text: str) -> None:
    result = request.readable(text)
    assert b"\0" not in result.encode()
    assert len(result) == len(text)
