"""The schema of the header accepts what an author may publish, and nothing that the site refuses."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import registry
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.findings import Severity
from registry.core.format import manifest_schema, skill_md
from registry.core.lint import rules
from registry.core.lint.header_rules import OUR_KEYS, SPEC_KEYS
from tests.core.strategies import law

SCHEMA = manifest_schema.schema()
VALIDATOR = Draft202012Validator(SCHEMA)
MANIFESTS = sorted((Path(registry.__file__).parent / "library").glob(f"*/{SKILL_MD}"))
GOOD: dict[str, Any] = {"name": "greeting", "description": "Greets people. Use when somebody says hello."}

BAD: dict[str, Any] = {
    "no name": {"description": "Greets people."},
    "no description": {"name": "greeting"},
    "empty description": GOOD | {"description": " \n"},
    "description of 1,025 characters": GOOD | {"description": "x" * 1_025},
    "description that is a list": GOOD | {"description": ["Greets"]},
    "name with a capital": GOOD | {"name": "Greeting"},
    "name with two hyphens": GOOD | {"name": "a--b"},
    "name with a space after it": GOOD | {"name": "greeting "},
    "name of 65 characters": GOOD | {"name": "x" * 65},
    "unknown kind": GOOD | {"metadata": {"kind": "skill"}},
    "unknown kind at the top": GOOD | {"kind": "skill"},
    "tags that are numbers": GOOD | {"metadata": {"tags": [1, 2]}},
    "metadata that is a list": GOOD | {"metadata": ["tags"]},
    "long compatibility": GOOD | {"compatibility": "x" * 501},
    "tools as a list": GOOD | {"allowed-tools": ["Bash"]},
    "a header that is a list": [GOOD],
}


def header(path: Path) -> Any:
    return yaml.safe_load(path.read_text().split("---\n")[1])


def test_the_schema_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", BAD)
def test_the_schema_refuses(name: str) -> None:
    assert list(VALIDATOR.iter_errors(BAD[name]))


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.parent.name)
def test_the_schema_accepts_each_built_in_skill(path: Path) -> None:
    VALIDATOR.validate(header(path))


def test_the_schema_accepts_own_keys_in_both_places() -> None:
    own = {"tags": ["a", "b"], "requires": "b, c", "triggers": "say hello", "inputs": "", "outputs": [], "kind": "tool"}
    VALIDATOR.validate(GOOD | own)
    VALIDATOR.validate(GOOD | {"metadata": own | {"owner": "ops"}, "x-other": 1})


def test_the_schema_describes_every_key_that_the_site_reads() -> None:
    described = SCHEMA["properties"]
    assert set(described) == {*SPEC_KEYS, *OUR_KEYS}
    assert set(described["metadata"]["properties"]) == set(OUR_KEYS)


_texts = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=12) | st.just("x" * 1_025)
_lists = _texts | st.lists(_texts, max_size=3)
_own = st.fixed_dictionaries({}, optional={key: _texts if key == "version" else _lists for key in OUR_KEYS})
_headers = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["greeting", "a-b", "a--b", "A", "", "x" * 65]),
        "description": _texts,
        "license": _texts,
        "metadata": _own,
        "tags": _lists,
    },
)


@law
@given(_headers)
def test_the_site_publishes_what_the_schema_accepts(written: dict[str, Any]) -> None:
    if list(VALIDATOR.iter_errors(written)):
        return
    text = f"---\n{yaml.safe_dump(written, allow_unicode=True)}---\n\nSay hello.\n"
    bundle = Bundle({SKILL_MD: text.encode()})
    findings = rules.lint(skill_md.read(text), bundle, authoring=True, directory=written["name"])
    assert [each for each in findings if each.severity is Severity.ERROR] == []
