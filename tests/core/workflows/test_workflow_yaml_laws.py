"""Any workflow file is a plan, or its problems are findings."""

from hypothesis import given
from hypothesis import strategies as st

from registry.core.workflows import workflow_yaml
from tests.core.workflows.files import FULL, errors, parse

WORDS = ["id", "version", "steps", "uses", "config", "input", "output", "depends_on", "a", "vars.x", "[", "]", "{", "}",
         ":", ",", "- ", "\n", "  ", "'", '"', "&a", "*a", "<<", "1", "1.5", "true", "~", "|", ">", "#", "foreach",
         "items"]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=60).map("".join) | st.text(max_size=60))
def test_any_text_is_a_plan_or_has_an_error(text: str) -> None:
    assert errors(text) or parse(text).plan


@given(st.binary(max_size=60))
def test_any_bytes_are_a_plan_or_have_an_error(content: bytes) -> None:
    parsed = workflow_yaml.parse(content)
    assert parsed.plan or parsed.findings


@given(st.data())
def test_a_damaged_file_is_a_plan_or_has_an_error(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(FULL)))
    end = data.draw(st.integers(start, min(len(FULL), start + 20)))
    text = FULL[:start] + data.draw(st.sampled_from(["", *WORDS])) + FULL[end:]
    assert errors(text) or parse(text).plan
