"""Editing single keys of a header without changing its other lines."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.errors import InvalidSkill, TooLarge
from registry.core.format.edit_lines import quote
from registry.core.format.frontmatter import edit, parse
from registry.core.limits import KIB
from tests.core.format.headers import doc
from tests.core.strategies import law

KEPT = """\
# head
name: x   # the name
vendor: {a: [1, 2]}

description: >-
  one
  two

metadata:
    # inside
    version: 1.0
    tags: a, b  # both
# foot
"""


def lines_changed(before: str, after: str) -> tuple[list[str], list[str]]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return old, new


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"name": "y"}, ["name: x   # the name\n"], ['name: "y"   # the name\n']),
        ({"name": None}, ["name: x   # the name\n"], []),
        ({"description": "a: b"}, ["description: >-\n", "  one\n", "  two\n"], ['description: "a: b"\n']),
        ({"description": None}, ["description: >-\n", "  one\n", "  two\n"], []),
        ({"vendor": "v"}, ["vendor: {a: [1, 2]}\n"], ['vendor: "v"\n']),
        ({"metadata.tags": ["c", "d e"]}, ["    tags: a, b  # both\n"], ['    tags: "c, d e"  # both\n']),
        ({"metadata.tags": None}, ["    tags: a, b  # both\n"], []),
        ({"metadata.kind": "tool"}, [], ['    kind: "tool"\n']),
        ({"license": "MIT"}, [], ['license: "MIT"\n']),
        ({"zz": ["a", "b"]}, [], ['zz: ["a", "b"]\n']),
        ({"zz": True}, [], ["zz: true\n"]),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_an_edit_changes_the_lines_of_its_key_and_nothing_else(
    changes: dict[str, object], old: list[str], new: list[str], newline: str, bom: str
) -> None:
    document = parse(bom + f"---\n{KEPT}---\nBody\n".replace("\n", newline))
    result = edit(document, changes)
    wanted = [line.replace("\n", newline) for line in old], [line.replace("\n", newline) for line in new]
    assert lines_changed(document.text, result) == wanted


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"name": "x"},
        {"description": "one two"},
        {"metadata.tags": "a, b"},
        {"metadata.tags": ["a", "b"]},
        {"missing": None},
        {"metadata.missing": None},
        {"metadata.version": "1.0"},
    ],
)
def test_setting_the_current_value_changes_nothing(changes: dict[str, object]) -> None:
    document = doc(KEPT)
    assert edit(document, changes, body="Body\n") == document.text


def test_several_changes_are_applied_at_once() -> None:
    changes = {"zz": "last", "license": "MIT", "description": "d", "metadata.c": "e", "metadata.a": None}
    assert edit(doc("metadata:\n  a: b\nname: x\n"), changes) == (
        '---\nmetadata:\n  c: "e"\nname: x\ndescription: "d"\nlicense: "MIT"\nzz: "last"\n---\nBody\n'
    )


def test_metadata_is_created_at_the_end() -> None:
    result = edit(doc("name: x\nvendor: y\n# foot\n"), {"metadata.tags": ["a", "b"], "metadata.kind": "tool"})
    assert result == '---\nname: x\nvendor: y\n# foot\nmetadata:\n  tags: "a, b"\n  kind: "tool"\n---\nBody\n'


@pytest.mark.parametrize("written", ["metadata:  # why\n", "metadata: ~  # why\n"])
def test_an_empty_metadata_is_filled(written: str) -> None:
    assert edit(doc(f"name: x\n{written}z: y\n"), {"metadata.a": "b"}) == (
        '---\nname: x\nmetadata:  # why\n  a: "b"\nz: y\n---\nBody\n'
    )


def test_removing_the_last_key_removes_metadata() -> None:
    assert edit(doc("name: x\nmetadata:\n  a: b\n"), {"metadata.a": None}) == "---\nname: x\n---\nBody\n"


def test_a_flow_map_of_metadata_is_rewritten_as_a_block() -> None:
    assert edit(doc("name: x\nmetadata: {a: b, v: 1.0} # why\n"), {"metadata.c": "d"}) == (
        '---\nname: x\nmetadata: # why\n  a: "b"\n  v: "1.0"\n  c: "d"\n---\nBody\n'
    )


def test_a_list_keeps_its_style() -> None:
    document = doc("block:  # why\n  - a\n  - b\nflow: [a, b]\n")
    assert edit(document, {"block": ["c"], "flow": ["d"]}) == ('---\nblock:  # why\n  - "c"\nflow: ["d"]\n---\nBody\n')


def test_removing_a_keep_scalar_removes_its_blank_lines() -> None:
    assert edit(doc("a: |+\n  x\n\n\nb: |\n  y\n\nc: z\n"), {"a": None, "b": None}) == "---\n\nc: z\n---\nBody\n"


def test_an_edit_of_a_tolerated_header_adds_the_quotes() -> None:
    document = doc("name: x\ndescription: Use when: asked # note\nother: c: d\n")
    result = edit(document, {"description": "Use when: told"})
    assert result == '---\nname: x\ndescription: "Use when: told" # note\nother: c: d\n---\nBody\n'
    assert [w.line for w in parse(result).warnings] == [4]


@pytest.mark.parametrize(
    ("header", "changes"),
    [
        ("{name: x, description: y}\n", {"name": "z"}),
        ("? name\n: x\n", {"name": "z"}),
        ("name: x\nmetadata: text\n", {"metadata.a": "b"}),
        ("name: x\nmetadata: [a]\n", {"metadata.a": "b"}),
        ("name: x\nmetadata: {a: {b: c}}\n", {"metadata.d": "e"}),
        ("base: &b {k: v}\nname: x\nmetadata:\n  <<: *b\n  a: b\n", {"metadata.k": None}),
        ("a: &a x\nb: *a\n", {"a": "y"}),
        ("name: x\n", {"name": None}),
        ("name: x\n", {"name": "nul \0"}),
    ],
)
def test_an_edit_that_cannot_be_made_is_refused(header: str, changes: dict[str, object]) -> None:
    with pytest.raises(InvalidSkill) as caught:
        edit(doc(header), changes)
    assert caught.value.findings[0].rule == "frontmatter-edit"
    assert "Switch to Code" in caught.value.findings[0].fix


@pytest.mark.parametrize("changes", [{"b": None}, {"b": None, "license": "MIT"}, {"b": None, "metadata.k": "v"}])
def test_removing_a_key_does_not_add_lines_to_a_value_that_keeps_them(changes: dict[str, object]) -> None:
    text = edit(doc("name: x\na: |+\n  one\n\nb:\n  - c\n\n\nd: e\n"), changes)
    after = parse(text).fields
    assert (after["a"], after["d"]) == ("one\n\n", "e")
    assert "b" not in after and after.keys() >= {name for name in changes if name == "license"}


def test_a_comma_inside_an_item_is_refused() -> None:
    with pytest.raises(InvalidSkill, match="contains a comma"):
        edit(doc("name: x\n"), {"metadata.tags": ["a, b"]})


def test_an_edit_over_the_limit_is_refused() -> None:
    with pytest.raises(TooLarge):
        edit(doc("name: x\n"), {"description": "a" * 65 * KIB})


def test_an_unsupported_value_raises_type_error() -> None:
    with pytest.raises(TypeError):
        edit(doc("name: x\n"), {"name": {"a": "b"}})


@pytest.mark.parametrize(
    ("text", "body", "result"),
    [
        ("---\nname: x\n---\nold\n", "new\r\nline\n", "---\nname: x\n---\nnew\nline\n"),
        ("---\r\nname: x\r\n---\r\nold\r\n", "new\nline\n", "---\r\nname: x\r\n---\r\nnew\r\nline\r\n"),
        ("---\nname: x\n---", "new\n", "---\nname: x\n---\nnew\n"),
        ("---\nname: x\n---\nold\n", "", "---\nname: x\n---\n"),
    ],
)
def test_a_new_body_gets_the_line_endings_of_the_file(text: str, body: str, result: str) -> None:
    assert edit(parse(text), {}, body=body) == result


@pytest.mark.parametrize(
    "value",
    [
        "a --- b",
        "-----",
        'say "hi"',
        "back\\slash",
        "tab\tline\nend",
        "\x85\u2028\ufeff",
        "# no comment",
        "é 漢 😀",
        " padded ",
        "{a}",
        "*x",
        "",
    ],
)
def test_any_text_can_be_written_and_parsed_back(value: str) -> None:
    result = edit(doc("name: x\n"), {"description": value})
    assert parse(result).fields["description"] == value
    assert "---" not in result.splitlines()[2]


# Laws.


WORDS = st.text(string.ascii_letters + string.digits + " é:#-'\",[]{}&*!|>%@`\\", max_size=25)
KEYS = st.from_regex(r"\A[a-z][a-z0-9_-]{0,8}\Z")
COMMENTS = st.sampled_from(["", "\n", "# note\n", "\n# a: b\n\n"])


@st.composite
def entry(draw: st.DrawFn, key: str, margin: str = "") -> str:
    value = draw(WORDS)
    written = draw(
        st.sampled_from(
            [
                quote(value),
                "'" + value.replace("'", "''") + "'",
                "plain text",
                "1.0",
                "true",
                "",
                "[a, b]",
                f"|\n{margin}    one\n\n{margin}    # two",
                f">+\n{margin}    one\n\n",
                "&anchor x",
                f"\n{margin}  - a\n{margin}  # between\n{margin}  - b",
                f"\n{margin}    deep:\n{margin}      er: x",
                "Use when: asked",
            ]
        )
    )
    comment = draw(st.sampled_from(["", "  # why"])) if "\n" not in written else ""
    return f"{margin}{key}:{'' if written.startswith(chr(10)) else ' '}{written}{comment}\n{draw(COMMENTS)}"


@st.composite
def documents(draw: st.DrawFn) -> str:
    keys = draw(st.lists(KEYS, min_size=1, max_size=4, unique=True))
    header = draw(COMMENTS) + "".join(draw(entry(key)) for key in keys if key != "metadata")
    if draw(st.booleans()):
        inside = draw(st.lists(KEYS, min_size=1, max_size=3, unique=True))
        header += "metadata:\n" + "".join(draw(entry(key, "  ")) for key in inside)
    text = f"---\n{header}name: x\n---\n{draw(WORDS)}\n" if "name" not in keys else f"---\n{header}---\n"
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text


@law
@given(documents())
def test_an_empty_edit_changes_nothing(text: str) -> None:
    document = parse(text)
    assert edit(document, {}) == text
    texts = {name: value for name, value in document.fields.items() if isinstance(value, str)}
    assert edit(document, texts) == text


@law
@given(documents(), st.data())
def test_an_edit_of_one_key_leaves_all_other_fields_and_lines_alone(text: str, data: st.DataObject) -> None:
    document = parse(text)
    name = data.draw(st.sampled_from([*document.fields, "fresh-key"]))
    value = data.draw(WORDS)
    result = edit(document, {name: value})
    after = parse(result)
    assert after.fields == {**document.fields, name: value}
    assert after.body == document.body
    old, _ = lines_changed(text, result)
    key = document.layout.loaded.keys.get((name,))
    first, last = (key.line + 1, key.end_line + 1) if key else (0, -1)
    assert len(old) <= last - first + 1
    untouched = [line for at, line in enumerate(text.splitlines(keepends=True)) if not first <= at <= last]
    remaining = iter(result.splitlines(keepends=True))
    assert all(line in remaining for line in untouched)


@law
@given(documents(), st.data())
def test_removing_one_key_and_setting_another_leaves_the_rest_alone(text: str, data: st.DataObject) -> None:
    document = parse(text)
    others = [name for name in document.fields if name not in ("name", "metadata")]
    doomed = data.draw(st.sampled_from(others or ["missing"]))
    inside = document.fields.get("metadata") or {}
    assert isinstance(inside, type(document.fields) | dict)
    after = parse(edit(document, {doomed: None, "metadata.fresh_key": "v"}))
    kept = {name: value for name, value in document.fields.items() if name not in (doomed, "metadata")}
    assert after.fields == {**kept, "metadata": {**inside, "fresh_key": "v"}}
