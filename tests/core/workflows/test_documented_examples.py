"""The workflows in the documentation can run."""

import re
from pathlib import Path

import pytest

from registry.core.workflows import workflow_lint, workflow_yaml
from registry.core.workflows.builtins.catalogue import BUILTINS

DOCS = Path(__file__).parents[3] / "docs"
BLOCK = re.compile(r"^```yaml\n(id: .*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = BLOCK.findall((DOCS / "workflows.md").read_text())
CAPABILITIES = {name: builtin.capability for name, builtin in BUILTINS.items()}


def test_the_page_has_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_has_no_findings(example: str) -> None:
    parsed = workflow_yaml.parse(example.encode())
    assert parsed.plan
    assert (*parsed.findings, *workflow_lint.lint(parsed, capabilities=CAPABILITIES, skills=())) == ()
