"""Golden files: every form gives the same cases, errors name the place and the fix, and an export can be read again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.errors import InvalidRequest, SkillsiteError, TooLarge
from registry.core.routing import golden, golden_files
from registry.core.routing.golden import CATEGORIES, NEAR_MISS, NEGATIVE, POSITIVE, Case, query_digest
from registry.core.routing.golden_files import read, to_json, to_json_lines
from tests.core.strategies import law

TWO = (Case("Refund?", ("refunds",), (), POSITIVE), Case("Rain?", (), (), NEGATIVE))


@pytest.mark.parametrize(
    "text",
    [
        '[{"query": "Refund?", "expected": "refunds"}, {"query": "Rain?", "expected": null}]',
        '[{"query": " Refund? ", "expected": ["Refunds"]}, {"query": "Rain?", "expected": []}]',
        '{"name": "x", "cases": [{"query": "Refund?", "expected": "refunds"}, {"query": "Rain?", "expected": ""}]}',
        '{"query": "Refund?", "expected": "refunds"}\n\n{"query": "Rain?", "category": "unrelated"}\n',
        '\ufeff{"query": "Refund?", "expected_skill": "refunds"}\r\n{"query": "Rain?", "expected": null}',
        '[{"question": "Refund?", "expected": "refunds"}, {"query": "Rain?", "should_trigger": false, "expected": []}]',
        "Refund?\trefunds\nRain?\t-\n",
        "Refund?\trefunds\r\nRain?\t\r\n",
        "Question\tSkill\tNote\nRefund?\trefunds\t\nRain?\tnone\t",
        "query,expected\nRefund?,refunds\nRain?,none",
        '"Refund?",refunds\n"Rain?",',
    ],
)
def test_every_form_gives_the_same_cases(text: str) -> None:
    assert read(text) == TWO
    assert read(text.encode()) == TWO


def test_the_questions_of_one_skill_name_it_or_become_near_misses() -> None:
    text = '[{"query": "Refund?", "should_trigger": true}, {"query": "Where is it?", "should_trigger": false}]'
    assert read(text, skill="refunds") == (
        Case("Refund?", ("refunds",), (), POSITIVE),
        Case("Where is it?", (), (), NEAR_MISS, "Not a question for refunds."),
    )


@pytest.mark.parametrize("skill", ["", "refunds"])
def test_each_prompt_of_evals_json_expects_its_skill(skill: str) -> None:
    entry = {"id": 1, "prompt": "Refund?", "expected_output": "Money", "files": [], "expectations": ["is polite"]}
    text = json.dumps({"skill_name": "refunds", "evals": [entry]})
    assert read(text, skill=skill) == TWO[:1]


def test_a_table_has_categories_notes_and_several_skills() -> None:
    text = (
        'query\texpected\tacceptable\tcategory\tnote\nIs "it" so, or not?\ta; b\tc\tnear miss\tWhy\n"A ""b"""\t-\t\t\t'
    )
    assert read(text) == (
        Case('Is "it" so, or not?', ("a", "b"), ("c",), NEAR_MISS, "Why"),
        Case('A "b"', (), (), NEGATIVE),
    )


@pytest.mark.parametrize(
    "text",
    [
        "query;expected\nRefund?;refunds\nRain?;",
        '"Question";"Skill";"Note"\r\n"Refund?";"refunds";""\r\n"Rain?";"-";""\r\n',
        "query;expected;;\nRefund?;refunds;;\nRain?;;;",
    ],
)
def test_a_first_line_with_semicolons_names_the_columns_of_its_csv(text: str) -> None:
    assert read(text) == TWO


def test_a_semicolon_in_a_question_separates_nothing() -> None:
    assert read('"Refund; please",refunds')[0].query == "Refund; please"


@pytest.mark.parametrize("category", ["near-miss", "near miss", "Near_Miss "])
def test_a_near_miss_without_an_answer_expects_none_in_each_spelling(category: str) -> None:
    assert read(json.dumps([{"query": "Rain?", "category": category}])) == (Case("Rain?", (), (), NEAR_MISS),)


def test_an_equal_case_is_read_once() -> None:
    assert read("Refund?\trefunds\nREFUND?\trefunds\nRain?\t-") == TWO


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the text is empty"),
        ("[]", "no test questions in the file"),
        ("{}", "no list of test questions"),
        ('{"cases": {}}', "no list of test questions"),
        ('[{"query": "a"', "not valid JSON: .* in line 1, column"),
        ('[NaN, {"query": "a"}]', "NaN is not a value of JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('[{"query": "a", "expected": "b"}, 3]', 'Entry 2: This is not an object. Write {"query"'),
        ('[{"expected": "b"}]', 'Entry 1: There is no text named “query”. Add "query"'),
        ('[{"query": 3, "expected": "b"}]', "Entry 1: There is no text named “query”"),
        ('[{"query": "a"}]', 'Entry 1: The answer is missing. Add "expected"'),
        ('[{"query": "a", "expceted": "b"}]', "Entry 1: The answer is missing"),
        ('[{"query": "a", "expected": 3}]', "Entry 1: “expected” is neither"),
        ('[{"query": "a", "expected": [3]}]', "Entry 1: “expected” is neither"),
        ('[{"query": "a", "expected": [""]}]', "Entry 1: expected has '', which is not a valid"),
        ('[{"query": "a", "expected": "b", "note": 3}]', "Entry 1: “note” is not a text"),
        ('[{"query": "a", "expected": "b", "category": "odd"}]', "Entry 1: There is no category 'odd'"),
        ('[{"query": "a", "expected": "b", "category": "negative"}]', "Entry 1: A negative case has no expected"),
        ('[{"query": "a", "should_trigger": true}]', "Entry 1: “should_trigger” does not say which skill"),
        ('[{"query": "a", "should_trigger": "yes"}]', "Entry 1: “should_trigger” is neither true nor false"),
        ('[{"query": "a", "should_trigger": false, "expected": "b"}]', "Entry 1: .*contradict each other"),
        ('{"evals": [{"prompt": "a"}]}', 'Entry 1: The file does not name its skill. Add "skill_name"'),
        ('{"query": "a", "expected": "b"}\n{"query": "c"', "Line 2: This line is not valid JSON: .* in column 14"),
        ('[{"query": "a", "expected": %s}]' % ("9" * 5_000), "not valid JSON: .* value has 5000 digits[.]$"),
        ('{"query": "a", "expected": "b"}\n\n[]', "Line 3: This is not an object"),
        ("a\tb\nc", "Line 2: There is no answer. Add a tab"),
        ("only a question", "Line 1: There is no answer"),
        ("a\tb\n\t b", "Line 2: The question is empty"),
        ("a,b,positive,note,more", "Line 1: There are 5 columns, and 4 are known. Put a question with commas"),
        (
            "Hello, my box is lost, refunds",
            "Line 1: There is no category 'refunds'. Put a question with commas",
        ),
        ("query,expected,acceptible\na,b,c", "Line 1: The column 'acceptible' is not known. Rename or remove it."),
        ("question\tskill\texpected\na\tb\tc", "Line 1: Two columns are 'expected'. Remove one of them."),
        ('a,b\n"c,d', "Line 2: This is not CSV"),
        ("a\tb\nA\tc", "Line 2: This is the same question as in line 1, with another answer"),
    ],
)
def test_errors_name_the_place_and_the_fix(text: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message.replace("(", r"\(")):
        read(text)


def test_all_errors_are_named_together_up_to_five() -> None:
    with pytest.raises(InvalidRequest) as refused:
        read("\n".join("question" for _ in range(8)) + "\nRain?\t-")
    assert refused.value.message.count("There is no answer") == 5
    assert "Line 5:" in refused.value.message
    assert "There are 3 more errors. Nothing was saved." in refused.value.message
    assert refused.value.data["index"] == 0


def test_text_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="byte 1 cannot be read"):
        read(b"a\xff")


@pytest.mark.parametrize(
    "text",
    [
        "x" * (golden_files.FILE_BYTES + 1),
        "[" + "{}," * 200_000 + "{}]",
        json.dumps([{"query": f"{number}", "expected": None} for number in range(golden.CASES + 1)]),
        "\n".join(f"{number}\t-" for number in range(golden.CASES + 1)),
    ],
    ids=["bytes", "values", "entries", "lines"],
)
def test_sizes_are_bounded(text: str) -> None:
    with pytest.raises((TooLarge, InvalidRequest), match=r"allowed|more than"):
        read(text)


_words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)
_names = st.lists(st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,4})?", fullmatch=True), max_size=3).map(tuple)


def _valid(case: Case) -> bool:
    try:
        case.checked()
    except InvalidRequest:
        return False
    return True


_cases = st.lists(
    st.builds(Case, _words, _names, _names, st.sampled_from(["", *CATEGORIES]), st.text(max_size=0) | _words)
    .filter(_valid)
    .map(Case.checked),
    min_size=1,
    max_size=5,
    unique_by=lambda case: query_digest(case.query),
).map(tuple)


@law
@given(_words, _cases)
def test_an_export_can_be_read_again(name: str, cases: tuple[Case, ...]) -> None:
    assert read(to_json(name, cases)) == cases
    assert read(to_json_lines(cases).encode()) == cases


@law
@given(st.text() | st.sampled_from(["[", "{", '{"query":', "a\t"]).flatmap(lambda start: st.text().map(start.__add__)))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert read(text)
    except SkillsiteError as error:
        assert error.message
