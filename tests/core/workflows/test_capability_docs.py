"""The page about capabilities: its examples are valid, and its tables complete."""

import re
from pathlib import Path

from django.conf import settings as site

from registry.core.findings import Severity
from registry.core.workflows import capability_schema, capability_yaml
from registry.core.workflows.capability_safety import CLASSIFICATIONS, CONSTRAINTS, TARGETS
from registry.services.capabilities.project_capabilities import MOST_CHARS_OF_A_PROJECT, MOST_OF_A_PROJECT
from tests.core.workflows.definitions import LEDGER, link

PAGE = (Path(site.BASE_DIR) / "docs" / "capabilities.md").read_text()
EXAMPLES = [text for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if text.startswith("id: ")]
SCHEMA = capability_schema.schema()


def section(title: str) -> str:
    return PAGE.partition(f"### {title}\n")[2].partition("\n##")[0]


def test_the_examples_are_valid_together() -> None:
    assert len(EXAMPLES) == 4
    for text in EXAMPLES:
        assert capability_yaml.parse(text).findings == ()
    for found in link(*EXAMPLES):
        assert found.capability
        assert {each.severity for each in found.findings} <= {Severity.HINT}, found.findings


def test_the_contract_is_on_the_page() -> None:
    (ours,), (contract,) = link(EXAMPLES[0]), link(LEDGER)
    assert ours.capability == contract.capability


def test_the_tables_have_every_key() -> None:
    named = set(re.findall(r"`([a-z_]+)`", PAGE.partition("## Register a capability")[2]))
    assert set(SCHEMA["properties"]) - {"name", "metadata", "requires"} <= named
    assert set(SCHEMA["$defs"]["safety"]["properties"]) <= set(re.findall(r"`([a-z_]+)`", section("Safety")))
    assert {*CLASSIFICATIONS, *TARGETS, *CONSTRAINTS} <= set(re.findall(r"`([a-z_]+)`", section("Safety")))
    forms = [form for form in SCHEMA["$defs"]["binding"]["anyOf"] if "properties" in form]
    for form in forms:
        kind = form["properties"]["kind"]["const"]
        (row,) = [line for line in section("Bindings").splitlines() if line.startswith(f"| `{kind}`")]
        assert set(form["properties"]) - {"kind"} <= set(re.findall(r"`([a-z_]+)`", row)), kind


def test_the_limits_are_on_the_page() -> None:
    assert f"{MOST_OF_A_PROJECT} capabilities with {MOST_CHARS_OF_A_PROJECT:,} characters" in PAGE
