"""Reading the values of SKILL.md: required keys, defaults, both places of a key, and warnings."""

import pytest

from registry.core.errors import InvalidSkill, TooLarge
from registry.core.findings import Severity
from registry.core.format.skill_md import SkillMd, read
from registry.core.limits import Limits
from tests.core.format.headers import skill

PLAIN = "---\nname: demo\ndescription: Shows things.\n---\n\n# Demo\n\nDo it.\n"


def rules(found: SkillMd) -> list[tuple[str, int | None]]:
    return [(warning.rule, warning.line) for warning in found.warnings]


def test_a_plain_skill_has_the_defaults() -> None:
    found = read(PLAIN)
    assert (found.name, found.description, found.kind, found.version) == ("demo", "Shows things.", "tool", None)
    assert (found.tags, found.requires, found.triggers, found.inputs, found.outputs) == ((), (), (), (), ())
    assert (found.license, found.compatibility, found.allowed_tools, found.metadata) == ("", "", "", {})
    assert found.instructions == "# Demo\n\nDo it."
    assert found.warnings == ()


@pytest.mark.parametrize("line", ["", "name:\n", "name: ''\n", "name: '  '\n", "name: ~\n"])
def test_a_missing_name_is_refused(line: str) -> None:
    with pytest.raises(InvalidSkill) as caught:
        read(f"---\n{line}description: d\n---\n")
    assert [(f.rule, f.severity) for f in caught.value.findings] == [("name-missing", Severity.ERROR)]


def test_a_missing_name_falls_back_to_the_directory_with_a_warning() -> None:
    found = read("---\ndescription: d\n---\n", fallback_name=" my-skill ")
    assert found.name == "my-skill"
    assert rules(found) == [("name-missing", None)]


@pytest.mark.parametrize("line", ["", "description:\n", "description: ''\n", "description: ' '\n", "description: |\n"])
def test_a_missing_description_is_refused_even_with_a_directory(line: str) -> None:
    with pytest.raises(InvalidSkill) as caught:
        read(f"---\nname: demo\n{line}---\n", fallback_name="demo")
    assert [f.rule for f in caught.value.findings] == ["description-missing"]


def test_all_missing_keys_are_reported_at_once() -> None:
    with pytest.raises(InvalidSkill) as caught:
        read("---\nlicense: MIT\n---\n")
    assert [f.rule for f in caught.value.findings] == ["name-missing", "description-missing"]


@pytest.mark.parametrize("value", ["[a, b]", "{a: b}"])
def test_a_description_that_is_not_text_is_refused_with_its_line(value: str) -> None:
    with pytest.raises(InvalidSkill) as caught:
        read(f"---\nname: demo\ndescription: {value}\n---\n")
    assert [(f.rule, f.line) for f in caught.value.findings] == [("description-text", 3)]


def test_limits_are_passed_to_the_parser() -> None:
    with pytest.raises(TooLarge):
        read(PLAIN, limits=Limits(skill_md_bytes=10))


def test_the_name_is_kept_as_written() -> None:
    assert read("---\nname: ' My Skill '\ndescription: d\n---\n").name == "My Skill"


@pytest.mark.parametrize("written", [">\n  Shows\n  things.\n", "|\n  Shows\n\n  things.\n", '"Shows\\n  things."\n'])
def test_a_description_is_folded_to_one_line(written: str) -> None:
    assert read(f"---\nname: x\ndescription: {written}---\n").description == "Shows things."


@pytest.mark.parametrize(
    "header",
    [
        "tags: [a, b c]\n",
        "tags:\n  - a\n  - b c\n  - a\n",
        "tags: a, b c,, a\n",
        "tags: |\n  a\n  b c\n",
        "metadata:\n  tags: a, b c\n",
        "metadata:\n  tags: [a, b c]\n",
    ],
)
def test_tags_are_read_from_both_places_as_list_or_text(header: str) -> None:
    assert skill(header).tags == ("a", "b c")


def test_an_item_of_a_list_may_contain_a_comma() -> None:
    assert skill("triggers: ['expenses, travel', refund]\n").triggers == ("expenses, travel", "refund")


def test_required_names_are_normalised_once() -> None:
    assert skill("requires: [Base-Skill, ' base-skill', Other]\n").requires == ("base-skill", "other")


def test_inputs_written_as_a_map_are_its_keys() -> None:
    found = skill("inputs: {to: {type: string}, cc: {type: string}}\noutputs: report\n")
    assert (found.inputs, found.outputs) == (("to", "cc"), ("report",))


@pytest.mark.parametrize("header", ["version: 1.0\n", "metadata:\n  version: 1.0\n", "metadata:\n  version: '1.0'\n"])
def test_a_version_is_the_text_as_written(header: str) -> None:
    assert skill(header).version == "1.0"


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("knowledge", "knowledge"),
        ("host-knowledge", "knowledge"),
        ("Knowledge", "knowledge"),
        ("tool", "tool"),
    ],
)
@pytest.mark.parametrize("place", ["kind: {}\n", "metadata:\n  kind: {}\n"])
def test_the_kind_is_read_from_both_places(written: str, kind: str, place: str) -> None:
    found = skill(place.format(written))
    assert (found.kind, found.warnings) == (kind, ())


def test_an_unknown_kind_is_treated_as_tool_with_a_warning() -> None:
    found = skill("metadata:\n  kind: recipe\n")
    assert found.kind == "tool"
    assert rules(found) == [("kind-unknown", 5)]


def test_the_top_level_wins_over_metadata_with_a_warning() -> None:
    found = skill("tags: [a]\nmetadata:\n  tags: b\n")
    assert found.tags == ("a",)
    assert rules(found) == [("frontmatter-two-places", 6)]


def test_the_same_value_in_both_places_gives_no_warning() -> None:
    assert skill("tags: [a, b]\nversion: 1.0\nmetadata:\n  tags: a, b\n  version: '1.0'\n").warnings == ()


def test_metadata_is_flat_text_and_the_rest_stays_in_the_document() -> None:
    found = skill("metadata:\n  internal: true\n  when: 2026-01-01\n  none:\n  list: [a]\n  openclaw: {os: [linux]}\n")
    assert found.metadata == {"internal": "true", "when": "2026-01-01", "none": ""}
    assert found.document.fields["metadata"]["openclaw"] == {"os": ("linux",)}  # type: ignore[index]


@pytest.mark.parametrize("value", ["text", "[a]"])
def test_metadata_that_is_not_a_map_is_ignored_with_a_warning(value: str) -> None:
    found = skill(f"metadata: {value}\n")
    assert found.metadata == {}
    assert rules(found) == [("metadata-map", 4)]


@pytest.mark.parametrize("written", ["Read Bash(git:*)", "[Read, 'Bash(git:*)']", "\n  - Read\n  - Bash(git:*)"])
def test_allowed_tools_are_one_text(written: str) -> None:
    assert skill(f"allowed-tools: {written}\n").allowed_tools == "Read Bash(git:*)"


def test_the_warnings_of_the_document_are_included() -> None:
    found = read("\ufeff---\nname: x\ndescription: Use when: asked\n---\n")
    assert found.description == "Use when: asked"
    assert rules(found) == [("frontmatter-bom", 1), ("frontmatter-tolerant", 3)]


@pytest.mark.parametrize(
    ("body", "instructions"),
    [
        ("", ""),
        ("\n\n", ""),
        ("\r\n# A\r\n\r\nb\r\n\r\n", "# A\n\nb"),
        ("\n    code\nb  \n \n", "    code\nb  "),
        ("a\rb", "a\nb"),
    ],
)
def test_instructions_are_the_body_without_blank_lines_around(body: str, instructions: str) -> None:
    assert skill("", body).instructions == instructions
