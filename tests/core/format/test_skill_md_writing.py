"""Writing SKILL.md: new files, and form edits of existing ones."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.errors import InvalidSkill, SkillsiteError
from registry.core.format import frontmatter
from registry.core.format.skill_md import compose, read, revise
from tests.core.format.headers import skill
from tests.core.strategies import law

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
ITEM = TEXT.map(lambda text: " ".join(text.replace(",", " ").split())).filter(bool)
ITEMS = st.lists(ITEM, max_size=4, unique=True)
NAMES = st.lists(st.from_regex(r"\A[a-z0-9]{1,5}(-[a-z0-9]{1,5}){0,2}\Z"), max_size=3, unique=True)
OTHER_KEYS = st.text(string.ascii_letters + ": #'\"é-1", min_size=1, max_size=8).filter(
    lambda key: key not in {"kind", "tags", "requires", "triggers", "inputs", "outputs", "version"} and "\n" not in key
)
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


# -- Form edits ---------------------------------------------------------------------------------------------


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
