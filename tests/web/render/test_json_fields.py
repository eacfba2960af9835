"""Values of runs as text."""

import pytest

from registry.core.scan import invisible
from registry.core.workflows.values import Json
from registry.web.render.json_fields import Room, fields_of, preview
from tests.cpu import within


def deep(levels: int) -> Json:
    value: Json = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        ({"a": "text", "b": 1}, [("a", "text"), ("b", "1")]),
        ({"a": {"b": None}}, [("a", "{\n  &quot;b&quot;: null\n}")]),
        ([True], [("", "[\n  true\n]")]),
        ({}, [("", "{}")]),
        ("Köln", [("", "Köln")]),
    ],
)
def test_each_field_of_an_object_is_a_text(value: Json, fields: list[tuple[str, str]]) -> None:
    assert [(field.name, field.html) for field in fields_of(value, most_chars=100, room=Room())] == fields


def test_a_long_value_is_cut() -> None:
    [field] = fields_of({"a": "x" * 101}, most_chars=100, room=Room())
    assert (field.html, field.cut) == ("x" * 100, "more")
    [field] = fields_of({"a": "x" * 100}, most_chars=100, room=Room())
    assert field.cut == ""


def test_an_object_with_many_fields_is_cut() -> None:
    fields = fields_of({str(number): number for number in range(50)}, most_chars=100, room=Room())
    assert (len(fields), fields[-1].cut) == (41, "10 more fields")


@pytest.mark.parametrize("value", [{"a": 1}, ["a", "b"], "one\ntwo", 12.5, None])
def test_a_preview_is_one_line(value: Json) -> None:
    assert "\n" not in preview(value, 20)
    assert len(preview(value, 5)) <= 5


@pytest.mark.parametrize(
    "value", [deep(900), {"a": list(range(1_000_000))}, "x" * 8_000_000], ids=["deep", "long", "text"]
)
def test_a_large_value_costs_no_more_than_its_start(value: Json) -> None:
    assert within(0.05, lambda: fields_of(value, most_chars=2_000, room=Room()))
    assert within(0.05, lambda: preview(value, 160))


def test_the_fields_of_a_page_share_its_room() -> None:
    room = Room(chars=250)
    fields = [fields_of({"a": "x" * 150}, most_chars=100, room=room)[0] for _ in range(4)]
    assert [len(field.html) for field in fields] == [100, 100, 50, 0]
    assert all(field.cut for field in fields)


def test_a_page_has_a_limit_of_boxes_for_hidden_characters() -> None:
    room = Room()
    hostile = "\u200b\u200d" * 1_000
    html = "".join(fields_of({"a": hostile}, most_chars=2_000, room=room)[0].html for _ in range(50))
    assert html.count("unseen") <= invisible.MOST
    assert len(html) < 2_000_000
