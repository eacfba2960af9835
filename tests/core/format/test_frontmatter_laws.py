"""Laws for any input of the parser: it returns a document or findings, in linear time."""

import sys
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.errors import SkillsiteError
from registry.core.format.frontmatter import edit, parse
from tests import cpu, effort
from tests.core.strategies import law

YAMLISH = st.lists(
    st.sampled_from(
        [
            "name",
            "description",
            "metadata",
            ": ",
            ":",
            "\n",
            "\n  ",
            "\n- ",
            "- ",
            "? ",
            "'",
            '"',
            "[",
            "]",
            "{",
            "}",
            ",",
            "&a ",
            "*a",
            "!!str ",
            "!x ",
            "|",
            "|+",
            "|2-",
            ">",
            "#",
            " # c",
            "---",
            "...",
            "\r\n",
            "\r",
            "\x85",
            "\u2028",
            "\t",
            "\\",
            "\\U00110000",
            "\\x",
            "%YAML 1.1",
            "%TAG ! x",
            "<<",
            "~",
            "true",
            "1.0",
            "é",
            "\ufeff",
            "\ud800",
            "\0",
            "@",
        ]
    ),
    max_size=25,
).map("".join)


@settings(law, max_examples=effort.examples(200))
@given(st.one_of(YAMLISH, YAMLISH.map(lambda header: f"---\n{header}\n---\nBody"), st.text(), st.binary()))
def test_any_input_is_parsed_or_refused_with_findings(content: str | bytes) -> None:
    try:
        document = parse(content)
        assert edit(document, {}) == document.text
        edit(document, {"name": "x", "metadata.tags": ["a"], next(iter(document.fields)): None})
    except SkillsiteError as error:
        assert error.findings


def work(content: str) -> int:
    """Count the lines of Python that run to parse the content."""
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> object:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        parse(content)
    except SkillsiteError:
        pass
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "shape",
    [
        lambda n: "a: " + "{a: " * (n // 4),
        lambda n: "- " * (n // 2),
        lambda n: "a: |\n" + "\n" * n,
        lambda n: "a: " + "b: " * (n // 3),
        lambda n: "a: [" + "x," * (n // 2) + "]",
        lambda n: "a: b: c\n" + "  so d: e\n" * (n // 10),
        lambda n: "".join(f"k{i}: v: w\n" for i in range(n // 10)),
        lambda n: "".join(f"k{i}: |\n\n\n" for i in range(n // 9)),
        lambda n: "a: b\n" + "---x\n" * (n // 5),
        lambda n: "a: b: c" + " #" * (n // 2),
        lambda n: "a: " + "!" * n,
        lambda n: "a: 'b" + " " * n,
    ],
    ids=range(12),
)
def test_twice_the_header_is_at_most_about_twice_the_work(shape: object) -> None:
    assert callable(shape)
    small, large = (work(f"---\n{shape(size)}\n---\n") for size in (1_000, 2_000))
    assert large < 2.5 * small + 1_000


@pytest.mark.parametrize(
    "line",
    [
        "a: b: c" + " " * 60_000 + "d",
        "a: b: c\n  d" + " " * 60_000 + "e",
        "a: >" + " " * 60_000 + "\n  b",
    ],
    ids=["one line", "two lines", "block"],
)
def test_a_long_run_of_blanks_is_read_and_edited_in_a_moment(line: str) -> None:
    """Measure CPU time, because the work of regular expressions does not count as lines of Python."""
    text = f"---\nname: x\n{line}\n---\n"
    edited = cpu.within(2, lambda: parse(edit(parse(text), {"a": "z"})))
    assert edited.fields == {"name": "x", "a": "z"}
