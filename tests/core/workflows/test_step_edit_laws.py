"""Laws of the cards: they change exactly what was typed, and leave every other byte of the file as it was."""

import difflib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from registry.core.errors import SkillsiteError
from registry.core.format.yaml_edits import REMOVED, identical
from registry.core.workflows import documents, step_cards, step_edits, workflow_yaml
from registry.core.workflows.plan import FILE
from registry.core.workflows.step_edits import Steps
from tests.core.workflows.yaml_styles import VALUES, files

EDITS: st.SearchStrategy[tuple[tuple[str, ...], Any]] = st.one_of(
    st.tuples(st.just(("uses",)), st.sampled_from(["data.get", "skill:a b", "x: y"])),
    st.tuples(st.sampled_from([("input", "one"), ("input", "new"), ("input", "two", "deep")]), VALUES),
    st.tuples(st.sampled_from([("input",), ("config",), ("input", "one"), ("config", "retry")]), st.just(REMOVED)),
    st.tuples(st.just(("config", "depends_on")), st.sampled_from([[], ["s9"], REMOVED])),
    st.tuples(st.just(("config", "retry", "max_attempts")), st.integers(1, 9)),
    st.tuples(st.just(("config", "condition")), st.sampled_from(["vars.y == 'a b'", "true", REMOVED])),
)


def load(text: str) -> Any:
    return documents.load(text, file=FILE).value


@given(files(), st.data())
def test_an_edit_changes_one_step_and_nothing_else(file: tuple[str, Any], data: st.DataObject) -> None:
    text, value = file
    number = data.draw(st.integers(0, len(value["steps"]) - 1))
    path, new = data.draw(EDITS)
    if len(path) == 3 and not isinstance(value["steps"][number].get("input", {}).get("two", {}), dict):
        path = path[:2]
    edited = Steps(text).write({("steps", number, *path): new})
    assert identical(load(edited), changed(value, number, path, new))
    line_numbers = touched(text, edited)
    document = documents.load(text, file=FILE)
    starts = [document.line(("steps", at)) - 1 for at in range(len(value["steps"]))]
    end = starts[number + 1] if number + 1 < len(starts) else len(text.splitlines())
    assert all(starts[number] <= line < end for line in line_numbers)


def changed(value: Any, number: int, path: tuple[str, ...], new: Any) -> Any:
    """Return a value with one change, made the plain way. A map that loses its last key goes away."""
    value = load_copy(value)
    place = step = value["steps"][number]
    for part in path[:-1]:
        if place.get(part) is None:
            if new is REMOVED:
                return value
            place[part] = {}
        place = place[part]
    if new is not REMOVED:
        place[path[-1]] = new
    elif path[-1] in place:
        del place[path[-1]]
        if not place and len(path) > 1:
            del step[path[0]]
    return value


def load_copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: load_copy(item) for key, item in value.items()}
    return [load_copy(item) for item in value] if isinstance(value, list) else value


def touched(before: str, after: str) -> set[int]:
    """Return the 0-based lines that an edit changed or removed, and those before the ones that it added."""
    old, new = before.splitlines(), after.splitlines()
    found: set[int] = set()
    for tag, start, end, _, _ in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "insert":
            found.add(start - 1)
        elif tag != "equal":
            found.update(range(start, end))
    return found


@given(files())
def test_a_card_that_nobody_changed_changes_nothing(file: tuple[str, Any]) -> None:
    text, value = file
    document = documents.load(text, file=FILE)
    for number in range(len(value["steps"])):
        card = step_cards.card(document, number, None)
        found = step_cards.edits(document, card, card.fields)
        assert not found.changes and not found.errors
        assert Steps(text).write(found.changes) == text


@given(files(), st.data())
def test_typed_values_are_read_back_as_they_were_typed(file: tuple[str, Any], data: st.DataObject) -> None:
    text, value = file
    number = data.draw(st.integers(0, len(value["steps"]) - 1))
    new = data.draw(VALUES)
    document = documents.load(text, file=FILE)
    card = step_cards.card(document, number, None)
    key = "input.one"
    card = step_cards.Card(number, card.id, card.fields, card.notations | {key})
    found = step_cards.edits(document, card, {key: step_cards.notation(new)})
    assert not found.errors
    written = load(Steps(text).write(found.changes))["steps"][number]
    assert identical(written["input"]["one"], new)


@given(files(), st.data())
def test_a_renamed_step_is_renamed_in_the_steps_that_wait_for_it(file: tuple[str, Any], data: st.DataObject) -> None:
    text, value = file
    number = data.draw(st.integers(0, len(value["steps"]) - 1))
    old = value["steps"][number]["id"]
    document = documents.load(text, file=FILE)
    card = step_cards.card(document, number, None)
    renamed = load(Steps(text).write(step_cards.edits(document, card, {"id": "new"}).changes))
    expected = load_copy(value)
    expected["steps"][number]["id"] = "new"
    for step in expected["steps"]:
        if names := step.get("config", {}).get("depends_on"):
            step["config"]["depends_on"] = ["new" if name == old else name for name in names]
    assert identical(renamed, expected)


@given(files(least=2), st.data())
def test_moving_up_and_down_again_restores_every_byte(file: tuple[str, Any], data: st.DataObject) -> None:
    text, value = file
    number = data.draw(st.integers(1, len(value["steps"]) - 1))
    moved = Steps(text).move(number, -1)
    assert [each["id"] for each in load(moved)["steps"]] != [each["id"] for each in value["steps"]]
    assert sorted(moved.splitlines()) == sorted(text.splitlines())
    assert Steps(moved).move(number - 1, 1) == text


@given(files(), st.data())
def test_steps_are_added_copied_and_removed(file: tuple[str, Any], data: st.DataObject) -> None:
    text, value = file
    number = data.draw(st.integers(0, len(value["steps"]) - 1))
    copied = Steps(text).copy(number)
    ids = step_edits.ids(documents.load(copied, file=FILE))
    assert len(set(ids)) == len(ids) == len(value["steps"]) + 1
    assert identical(load(Steps(copied).remove(number + 1)), value)
    step = {"id": "added", "uses": "data.echo", "input": {"value": data.draw(VALUES)}}
    added = Steps(text).add(step)
    assert identical(load(added), {**value, "steps": [*value["steps"], step]})
    assert added.startswith(text[: text.index("steps:")])
    assert identical(load(Steps(added).remove(len(value["steps"]))), value)


@given(st.text(max_size=80))
def test_any_text_is_edited_or_refused_with_an_error_of_ours(text: str) -> None:
    for act in (
        lambda: Steps(text).add({"id": "a"}),
        lambda: Steps(text).write({("steps", 0, "id"): "b"}),
        lambda: Steps(text).remove(0),
        lambda: Steps(text).copy(0),
        lambda: Steps(text).move(1, -1),
    ):
        try:
            act()
        except SkillsiteError:
            continue


def test_a_start_file_is_a_plan_without_findings() -> None:
    assert workflow_yaml.parse(step_edits.start_file("expense-report")).findings == ()
    plan = workflow_yaml.parse(step_edits.start_file("Not an id!")).plan
    assert plan is not None and plan.id == "my-workflow"
