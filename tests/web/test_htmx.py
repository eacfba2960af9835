"""Pages and fragments of one address."""

import pytest

from registry.web import htmx
from tests.web.drawing import ask


@pytest.mark.parametrize(
    ("headers", "whole"),
    [
        ({}, True),
        ({"HX_Request": "true"}, False),
        ({"HX_Request": "true", "HX_Boosted": "true"}, True),
        ({"HX_Request": "true", "HX_History_Restore_Request": "true"}, True),
        ({"HX_Boosted": "true"}, True),
    ],
)
def test_only_a_plain_htmx_request_gets_the_fragment(headers, whole):
    context = {"rows": [], "empty": "none found"}
    answer = htmx.render(ask(**headers), "errors/404.html", context, partial="components/findings.html", status=422)
    assert answer.status_code == 422
    assert "HX-Request" in answer["Vary"]
    assert (b"<!doctype html>" in answer.content) is whole
    assert (b"none found" in answer.content) is not whole


def test_without_a_fragment_every_request_gets_the_page():
    assert b"<!doctype html>" in htmx.render(ask(HX_Request="true"), "errors/404.html").content
