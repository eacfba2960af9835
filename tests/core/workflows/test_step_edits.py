"""New steps and rows of the editor."""

import pytest

from registry.core.errors import NotFound
from registry.core.format.yaml_edits import REMOVED, Renamed
from registry.core.workflows import documents, field_rows, step_cards, workflow_yaml
from registry.core.workflows.builtins.catalogue import BUILTINS
from registry.core.workflows.plan import FILE
from registry.core.workflows.step_edits import Steps, free_id, new_step

TEXT = """\
id: a.b
version: 1.0.0
inputs:
  text: {type: string, required: true}
  items: {type: string}
outputs: {}
steps:
  - id: trim
    uses: text.trim
    input: {text: inputs.text}
    output: {text: vars.text}
    config: {on_deny: sorry}
  - id: sorry
    uses: text.case
"""
PLAN = workflow_yaml.parse(TEXT).sketch


def of(name: str) -> dict[str, object]:
    return new_step(name, BUILTINS[name].capability, PLAN, ["trim", "case"])


def test_a_new_step_reads_inputs_with_its_names_and_types() -> None:
    assert of("text.case") == {
        "id": "case-2",
        "uses": "text.case",
        "input": {"text": "inputs.text", "case": ""},
        "output": {"text": "vars.case_2_text"},
    }
    assert of("data.count")["input"] == {"items": []}, "the input of this name has another type"


def test_a_new_step_of_something_unknown_has_no_inputs() -> None:
    assert new_step("skill:My Skill", None, PLAN, []) == {"id": "My-Skill", "uses": "skill:My Skill"}
    assert new_step("???", None, None, []) == {"id": "step", "uses": "???"}


@pytest.mark.parametrize(
    ("id_", "taken", "free"),
    [("a", [], "a"), ("a", ["a"], "a-2"), ("a-2", ["a-2"], "a"), ("a-2", ["a-2", "a"], "a-3"), ("", [""], "step"),
     ("x" * 64, ["x" * 64], "x" * 56)],
)  # fmt: skip
def test_an_id_is_free(id_: str, taken: list[str], free: str) -> None:
    assert free_id(id_, taken) == free


def test_removing_a_step_takes_it_out_of_on_deny() -> None:
    assert "on_deny" not in Steps(TEXT).remove(1)
    assert "config" not in Steps(TEXT).remove(1)


@pytest.mark.parametrize("number", [-1, 2, 99])
def test_a_step_that_does_not_exist_is_not_found(number: int) -> None:
    for act in (Steps(TEXT).remove, Steps(TEXT).copy, lambda number: Steps(TEXT).move(number, 1)):
        with pytest.raises(NotFound):
            act(number)


def test_two_steps_with_one_id_keep_their_references() -> None:
    text = "steps:\n  - id: a\n  - id: a\n  - id: b\n    config: {depends_on: [a]}\n"
    document = documents.load(text, file=FILE)
    found = step_cards.edits(document, step_cards.card(document, 0, None), {"id": "c"})
    assert found.changes == {("steps", 0, "id"): "c"}
    assert "depends_on: [a]" in Steps(text).remove(0)


def test_rows_become_changes() -> None:
    shown = field_rows.rows(documents.load(TEXT, file=FILE), "inputs")
    assert [row["name"] for row in shown] == ["text", "items"]
    typed = [
        {**shown[0], "name": "words", "required": ""},
        {**shown[1], "name": ""},
        {"name": "n", "type": "number", "default": "2"},
    ]
    assert field_rows.edits("inputs", shown, typed).changes == {
        ("inputs", "text", "required"): REMOVED,
        ("inputs", "text"): Renamed("words"),
        ("inputs", "items"): REMOVED,
        ("inputs", "n", "type"): "number",
        ("inputs", "n", "default"): 2,
    }
    assert field_rows.rows(None, "inputs") == []


@pytest.mark.parametrize(
    ("row", "error"),
    [({"name": "text"}, "name"), ({"name": "1a"}, "name"), ({"description": "x"}, "name"),
     ({"name": "n", "type": "array", "default": "["}, "default")],
)  # fmt: skip
def test_a_wrong_row_is_named(row: dict[str, str], error: str) -> None:
    shown = field_rows.rows(documents.load(TEXT, file=FILE), "inputs")
    assert list(field_rows.edits("inputs", shown, [*shown, row]).errors) == [f"inputs.2.{error}"]
