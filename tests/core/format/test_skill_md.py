"""Reading the values of SKILL.md, writing new files, and editing existing ones."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.errors import InvalidSkill, SkillsiteError, TooLarge
from registry.core.findings import Severity
from registry.core.format import frontmatter
from registry.core.format.skill_md import SkillMd, compose, read, revise
from registry.core.limits import Limits
from tests.core.strategies import law

PLAIN = "---\nname: demo\ndescription: Shows things.\n---\n\n# Demo\n\nDo it.\n"


def skill(header: str, body: str = "Body\n") -> SkillMd:
    return read(f"---\nname: demo\ndescription: Shows things.\n{header}---\n{body}")


def rules(found: SkillMd) -> list[tuple[str, int | None]]:
    return [(warning.rule, warning.line) for warning in found.warnings]


def test_a_plain_skill_has_the_defaults() -> None:
    found = read(PLAIN)
    assert (found.name, found.description, found.kind, found.version) == ("demo", "Shows things.", "tool", None)
    assert (found.tags, found.requires, found.triggers, found.inputs, found.outputs) == ((), (), (), (), ())
    assert (found.license, found.compatibility, found.allowed_tools, found.metadata) == ("", "", "", {})
    assert found.instructions == "# Demo\n\nDo it."
    assert found.warnings == ()


# What is missing.


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


# What is read, and from where.


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


# New files.


def test_a_new_file_uses_only_what_every_client_reads() -> None:
    text = compose(
        name="demo",
        description="Shows: things\nand more",
        instructions="\n# Demo\r\n\r\nDo it.\n\n",
        kind="knowledge",
        tags=["a", "b c", "a"],
        requires=[" Base "],
        license="MIT",
        metadata={"owner": "team: x"},
    )
    assert text == (
        '---\nname: demo\ndescription: "Shows: things and more"\nlicense: "MIT"\nmetadata:\n  owner: "team: x"\n'
        '  kind: "knowledge"\n  tags: "a, b c"\n  requires: "base"\n---\n\n# Demo\n\nDo it.\n'
    )


def test_the_header_of_a_new_file_never_contains_three_hyphens() -> None:
    text = compose(name="demo", description="first --- second ----- third", instructions="", tags=["a---b"])
    assert text.split("---")[2:] == ["\n"]
    assert read(text).description == "first --- second ----- third"


@pytest.mark.parametrize("name", ["123", "null", "true", "1e3", "on", "2026-01-01", "My Skill", "-x", "a: b"])
def test_a_name_that_yaml_would_not_read_as_text_is_quoted(name: str) -> None:
    text = compose(name=name, description="d", instructions="")
    assert f'name: "{name}"\n' in text
    assert read(text).name == name


@pytest.mark.parametrize(
    "values",
    [
        {"name": " ", "description": "d"},
        {"name": "x", "description": " \n"},
        {"name": "x", "description": "nul \0"},
        {"name": "x", "description": "d", "tags": ["a, b"]},
        {"name": "x", "description": "half \ud800"},
        {"name": "x", "description": "d", "metadata": {"": "v"}},
        {"name": "x", "description": "d", "instructions": "\0"},
        {"name": "x", "description": "d" * 70_000},
    ],
)
def test_an_invalid_new_file_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(SkillsiteError) as caught:
        compose(**{"instructions": "i", **values})  # type: ignore[arg-type]
    assert caught.value.findings


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
ITEM = TEXT.map(lambda text: " ".join(text.replace(",", " ").split())).filter(bool)
ITEMS = st.lists(ITEM, max_size=4, unique=True)
NAMES = st.lists(st.from_regex(r"\A[a-z0-9]{1,5}(-[a-z0-9]{1,5}){0,2}\Z"), max_size=3, unique=True)
OTHER_KEYS = st.text(string.ascii_letters + ": #'\"é-1", min_size=1, max_size=8).filter(
    lambda key: key not in {"kind", "tags", "requires", "triggers", "inputs", "outputs", "version"} and "\n" not in key
)


@pytest.mark.slow
@law
@given(
    name=ITEM,
    description=ITEM,
    instructions=TEXT,
    kind=st.sampled_from(["knowledge", "tool"]),
    tags=ITEMS,
    requires=NAMES,
    triggers=ITEMS,
    inputs=ITEMS,
    outputs=ITEMS,
    license_=st.one_of(st.just(""), ITEM),
    metadata=st.dictionaries(OTHER_KEYS, TEXT, max_size=3),
)
def test_a_new_file_parses_back_to_the_same_values(
    name: str,
    description: str,
    instructions: str,
    kind: str,
    tags: list[str],
    requires: list[str],
    triggers: list[str],
    inputs: list[str],
    outputs: list[str],
    license_: str,
    metadata: dict[str, str],
) -> None:
    text = compose(
        name=name,
        description=description,
        instructions=instructions,
        kind=kind,
        tags=tags,
        requires=requires,
        triggers=triggers,
        inputs=inputs,
        outputs=outputs,
        license=license_,
        metadata=metadata,
    )
    found = read(text)
    assert (found.name, found.description, found.kind, found.license) == (name, description, kind, license_)
    assert (found.tags, found.requires, found.triggers) == (tuple(tags), tuple(requires), tuple(triggers))
    assert (found.inputs, found.outputs, found.warnings) == (tuple(inputs), tuple(outputs), ())
    assert {key: value for key, value in found.metadata.items() if key in metadata} == metadata
    assert "---" not in text.split("\n", 1)[1].split("\n---\n")[0]
    again = compose(name=name, description=description, instructions=found.instructions)
    assert read(again).instructions == found.instructions


# Form edits.

VENDOR = """---
# ours
name: demo
description: Shows things.  # short
when_to_use: often
tags: [a, b]
metadata:
  requires: "base"   # see base
  openclaw: {os: [linux]}
---

# Demo
"""


def test_saving_a_form_without_a_change_changes_no_byte() -> None:
    found = read(VENDOR.replace("\n", "\r\n"))
    assert revise(found) == found.document.text
    assert (
        revise(
            found,
            name="demo",
            description="Shows  things.",
            kind="tool",
            tags=["a", "b"],
            requires=["base"],
            triggers=[],
            inputs=(),
            outputs=(),
            instructions="\n# Demo",
        )
        == found.document.text
    )


def test_a_form_edit_writes_to_the_place_of_the_key_or_to_metadata() -> None:
    text = revise(
        read(VENDOR),
        description="Shows: more",
        tags=["c", "d, e"],
        requires=["base", "other"],
        kind="knowledge",
        instructions="# New\nbody",
    )
    assert (
        text
        == """---
# ours
name: demo
description: "Shows: more"  # short
when_to_use: often
tags: ["c", "d, e"]
metadata:
  requires: "base, other"   # see base
  openclaw: {os: [linux]}
  kind: "knowledge"
---

# New
body
"""
    )


def test_a_list_that_was_one_text_stays_one_text() -> None:
    assert 'tags: "c, d"\n' in revise(skill("tags: a, b\n"), tags=["c", "d"])


def test_an_empty_list_removes_its_key() -> None:
    assert revise(read(VENDOR), tags=[], requires=[]) == VENDOR.replace("tags: [a, b]\n", "").replace(
        '  requires: "base"   # see base\n', ""
    )


def test_a_key_in_both_places_is_written_in_both() -> None:
    text = revise(skill("kind: tool\nmetadata:\n  kind: tool\n"), kind="knowledge")
    assert read(text).kind == "knowledge"
    assert read(text).warnings == ()


def test_a_name_from_the_directory_is_written_to_the_header() -> None:
    found = read("---\ndescription: d\n---\n", fallback_name="demo")
    assert revise(found) == found.document.text
    assert revise(found, name="demo") == '---\nname: "demo"\ndescription: d\n---\n'


@pytest.mark.parametrize(
    "values",
    [
        {"name": ""},
        {"description": " "},
        {"description": "\0"},
        {"instructions": "\0"},
        {"requires": ["a,b"]},
    ],
)
def test_a_form_edit_that_would_break_the_skill_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(InvalidSkill):
        revise(read(VENDOR), **values)  # type: ignore[arg-type]


def test_a_form_edit_of_a_flow_header_is_refused_and_its_body_can_still_be_edited() -> None:
    found = read("---\n{name: x, description: y}\n---\nold\n")
    with pytest.raises(InvalidSkill, match="Switch to Code"):
        revise(found, description="z")
    assert revise(found, instructions="new") == "---\n{name: x, description: y}\n---\n\nnew\n"


@law
@given(description=ITEM, tags=ITEMS, requires=NAMES, instructions=TEXT, newline=st.sampled_from(["\n", "\r\n"]))
def test_a_form_edit_changes_only_the_passed_values(
    description: str, tags: list[str], requires: list[str], instructions: str, newline: str
) -> None:
    before = read(VENDOR.replace("\n", newline))
    after = read(revise(before, description=description, tags=tags, requires=requires, instructions=instructions))
    assert (after.description, after.tags, after.requires) == (description, tuple(tags), tuple(requires))
    assert (after.name, after.kind, after.warnings) == (before.name, before.kind, ())
    assert after.document.fields["when_to_use"] == "often"
    assert after.document.fields["metadata"]["openclaw"] == {"os": ("linux",)}  # type: ignore[index]
    assert after.instructions == read(compose(name="x", description="x", instructions=instructions)).instructions
    assert after.document.text.splitlines()[1:3] == ["# ours", "name: demo"]
    assert frontmatter.edit(after.document, {}) == after.document.text
