"""Built-in gates, and the built-in capabilities that control a run or that people answer."""

import pytest

from registry.core.workflows.builtins.catalogue import BUILTINS, HUMAN
from registry.core.workflows.failures import StepFailed
from registry.core.workflows.values import Json
from tests.core.workflows.builtins.calls import NOW, World, call, refused

TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW3xY5"
PERSONAL = {
    "email": "anna.b+x@mail.example.com",
    "iban": "DE89 3704 0044 0532 0130 00",
    "card": "4111 1111 1111 1111",
    "national-id": "44051401359",
    "phone": "+49 (0)89 1234-5678",
    "ip": "192.168.2.1",
}


def test_a_secret_is_found_and_never_repeated() -> None:
    verdict = call("security.secrets.detect", text=f"first\nkey {TOKEN}")
    assert verdict["allowed"] is False
    assert verdict["findings"] == [{"what": "a GitHub token", "line": 2, "column": 5}]
    assert TOKEN[:8] not in str(verdict)
    assert call("security.secrets.detect", text="no key")["allowed"] is True


@pytest.mark.parametrize("kind", PERSONAL)
def test_personal_data_is_found_and_masked(kind: str) -> None:
    verdict = call("security.pii.detect", text=f"see\n 22 {PERSONAL[kind]} now")
    assert (verdict["allowed"], verdict["contains_pii"]) == (False, True)
    assert [(found["kind"], found["line"]) for found in verdict["findings"]] == [(kind, 2)]
    assert PERSONAL[kind] not in str(verdict)


@pytest.mark.parametrize(
    "text",
    [
        "DE88370400440532013000", "4111 1111 1111 1112", "44051401358", "127.0.0.1", "256.1.1.1", "12:30:45",
        "2026-11-18", "anna@", "0000000000000000", "12345678A", "",
    ],
)  # fmt: skip
def test_what_only_resembles_personal_data_is_allowed(text: str) -> None:
    assert call("security.pii.detect", text=text)["findings"] == []


@pytest.mark.parametrize(
    "text", ["12345678Z", "X1234567L", "2 94 03 75 120 005 91", "86095742719", "::ffff:1", "2001:db8::1"]
)
def test_numbers_with_a_checksum_and_addresses_are_found(text: str) -> None:
    assert call("security.pii.detect", text=text)["contains_pii"] is True


def test_only_the_wanted_kinds_are_looked_for() -> None:
    text = " and ".join(PERSONAL.values())
    assert [found["kind"] for found in call("security.pii.detect", text=text, kinds=["ip"])["findings"]] == ["ip"]
    assert "one or more of email" in refused("security.pii.detect", text=text, kinds=[])
    assert "one or more of email" in refused("security.pii.detect", text=text, kinds=["name"])
    assert "Check it in parts" in refused("security.pii.detect", text="a" * 500_001)


@pytest.mark.parametrize(
    ("id_", "inputs", "allowed"),
    [
        ("policy.range.gate", {"value": 5, "minimum": 5, "maximum": 5}, True),
        ("policy.range.gate", {"value": 5.01, "maximum": 5}, False),
        ("policy.range.gate", {"value": -1, "minimum": 0}, False),
        ("policy.length.gate", {"text": "abc", "maximum": 3}, True),
        ("policy.length.gate", {"text": "", "minimum": 1}, False),
        ("policy.allowlist.gate", {"value": "a", "allowed_values": ["a"]}, True),
        ("policy.allowlist.gate", {"value": "A", "allowed_values": ["a"]}, False),
        ("policy.allowlist.gate", {"value": "A", "allowed_values": ["a"], "ignore_case": True}, True),
        ("policy.required.gate", {"value": {"a": {"b": 0}}, "fields": ["a.b"]}, True),
        ("policy.required.gate", {"value": {"a": ""}, "fields": ["a", "b"]}, False),
        ("policy.words.gate", {"text": "Fine.", "forbidden_words": ["bad"]}, True),
        ("policy.words.gate", {"text": "BAD!", "forbidden_words": ["bad"]}, False),
    ],
)
def test_a_policy_allows_or_says_why_not(id_: str, inputs: dict[str, Json], allowed: bool) -> None:
    verdict = call(id_, **inputs)
    assert verdict["allowed"] is allowed
    assert bool(verdict["reason"]) is not allowed


@pytest.mark.parametrize(
    ("id_", "inputs"),
    [
        ("policy.range.gate", {"value": 5}),
        ("policy.range.gate", {"value": 5, "minimum": 6, "maximum": 5}),
        ("policy.length.gate", {"text": "a"}),
        ("policy.allowlist.gate", {"value": "a", "allowed_values": []}),
        ("policy.allowlist.gate", {"value": "a", "allowed_values": [1]}),
        ("policy.required.gate", {"value": {}, "fields": []}),
        ("policy.words.gate", {"text": "a", "forbidden_words": []}),
        ("policy.words.gate", {"text": "a", "forbidden_words": [""]}),
        ("policy.words.gate", {"text": "a" * 100_000, "forbidden_words": ["b"] * 1_000}),
    ],
)
def test_a_gate_that_cannot_decide_fails(id_: str, inputs: dict[str, Json]) -> None:
    assert refused(id_, **inputs)


@pytest.mark.parametrize(("wanted", "remaining", "slept"), [(2, 60, 2), (400, 600, 300), (50, 10, 10), (5, -1, 0)])
def test_a_sleep_ends_with_the_time_of_the_step(wanted: float, remaining: float, slept: float) -> None:
    world = World(remaining)
    assert BUILTINS["control.sleep"].run({"seconds": wanted}, world) == {"slept": slept}
    assert world.slept == [slept]


def test_control_and_people() -> None:
    assert refused("control.fail", message="No stock.") == "No stock."
    assert refused("control.fail", message="")
    assert "cannot be negative" in refused("control.sleep", seconds=-1)
    assert {"human.input", "human.approve"} == HUMAN
    assert "Only a person" in refused("human.input", question="?", fields={})
    assert "Only a person" in refused("human.approve", question="?")


def test_dates() -> None:
    assert call("date.now")["now"] == NOW.isoformat()
    assert call("date.add", date="2026-01-31", months=1) == {"date": "2026-02-28"}
    assert call("date.add", date="2026-01-31", hours=-1) == {"date": "2026-01-30T23:00:00"}
    assert call("date.difference", start="2026-03-01", end="2026-02-28T12:00")["days"] == 0
    assert call("date.difference", start="2026-01-01", end="2026-03-01")["days"] == 59
    assert call("date.parse", text="3/4/2026", order="mdy")["date"] == "2026-03-04"
    assert call("date.parse", text="3.4.2026", order="dmy")["date"] == "2026-04-03"
    assert call("date.format", date="2026-11-18T09:30:00Z") == {"text": "18 November 2026"}


@pytest.mark.parametrize(
    ("id_", "inputs"),
    [
        ("date.parse", {"text": "tomorrow"}), ("date.parse", {"text": "31.2.2026", "order": "dmy"}),
        ("date.parse", {"text": "1.2.26", "order": "dmy"}), ("date.parse", {"text": "1.2.2026", "order": "x"}),
        ("date.add", {"date": "9999-12-31", "days": 1}), ("date.add", {"date": "2026-01-01", "years": 10**9}),
        ("date.difference", {"start": "2026-01-01", "end": "2026-01-01T00:00Z"}),
        ("date.format", {"date": "2026-01-01", "style": "short"}),
        ("json.parse", {"text": "[1,"}), ("json.parse", {"text": "NaN"}), ("json.parse", {"text": "1e999"}),
        ("json.parse", {"text": "9" * 5_000}), ("csv.parse", {"text": "a,a\n1,2"}), ("csv.parse", {"text": "a,b\n1"}),
        ("csv.parse", {"text": 'a\n"b'}), ("csv.parse", {"text": "a", "separator": "--"}),
        ("csv.parse", {"text": "\na" * 50_002}), ("csv.render", {"rows": [1]}),
        ("csv.parse", {"text": "a\n1", "numbers": ["b"]}), ("csv.parse", {"text": "a\n1", "numbers": [["a"]]}),
        ("csv.parse", {"text": "a\n1,5", "separator": ";", "numbers": ["a"]}),
        ("csv.parse", {"text": "1", "header": False, "numbers": ["a"]}),
    ],
)  # fmt: skip
def test_dates_and_formats_that_cannot_be_read_are_refused(id_: str, inputs: dict[str, Json]) -> None:
    assert refused(id_, **inputs)


def test_columns_of_a_table_are_read_as_numbers() -> None:
    text = "name,amount,rate\nHotel,163.00,1\nRefund,-12.5,\n"
    rows = call("csv.parse", text=text, numbers=["amount", "rate", "amount"])["rows"]
    assert rows == [
        {"name": "Hotel", "amount": 163, "rate": 1},
        {"name": "Refund", "amount": -12.5, "rate": None},
    ]
    assert call("csv.parse", text="a\n", numbers=["a"])["rows"] == []


def test_a_cell_that_is_no_number_is_named_with_its_row_and_column() -> None:
    with pytest.raises(StepFailed) as caught:
        call("csv.parse", text="name,amount\nHotel,163\nTaxi,about 20\n", numbers=["amount"])
    assert "Row 3" in caught.value.failure.message
    assert "“about 20”" in caught.value.failure.message


def test_json_and_csv_are_read_as_they_were_written() -> None:
    rows = [{"a": "x;y", "b": 'say "hi"\nnow'}, {"a": "", "b": "1"}]
    text = call("csv.render", rows=rows, separator=";")["text"]
    assert call("csv.parse", text=text, separator=";")["rows"] == [{**row, "b": row["b"]} for row in rows]
    value = {"é": [1, None, {"a": 1.5}]}
    assert call("json.parse", text=call("json.render", value=value, indent=True)["text"]) == {"value": value}
