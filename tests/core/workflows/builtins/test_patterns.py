"""Regular expressions of people: what is accepted, and the bound on the steps of a search."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from registry.core.workflows.builtins import patterns, steps
from registry.core.workflows.failures import StepFailed
from tests import effort
from tests.core.workflows.builtins.backtracking import count_steps

# Patterns that are known to take exponential or high polynomial time, many of them from reports of real failures.
EVIL = (
    r"(a+)+$", r"(a*)*$", r"(a|a)*$", r"(a|aa)+$", r"(.*a){20}", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(x+x+)+y",
    r"(?:a?){30}a{30}",
    r"([a-zA-Z]+)*!", r"(\w+\s?)*:", r"(\d+)*\.", r"^(\w+\s*)+$", r"(.*)(.*)(.*)(.*)x", r"a*a*a*a*b", r".*.*.*=.*",
    r"(?:(?:a{0,30}){0,30}){0,30}b", r"(a{1,50}){1,50}b", r"((a+)?)+b", r"(?:.|\n)*?(?:.|\s)*x", r"(a|b|ab)*c",
    r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$",
    r"^(([a-zA-Z0-9_\-\.]+)@([a-zA-Z0-9_\-\.]+)\.([a-zA-Z]{2,5}){1,25})+$", r"(?:\s*,*)*;", r"(?i:a+)+b",
    r"^(?:(?:[^\"]|\"\")*,)*[^,]*x$", r"(?:a+b?)+c", r"(?:(?:ab)*a?b?)*c", r"(a+?)+?b",
)  # fmt: skip
NOT_SUPPORTED = {
    r"(a)\1": "refers back to a group",
    r"(?P<x>a)(?P=x)": "refers back to a group",
    r"(a)?(?(1)b|c)": "asks whether a group has matched",
    r"(?=a)": "looks ahead or behind",
    r"(?!a+)": "looks ahead or behind",
    r"(?<=a)b": "looks ahead or behind",
    r"(?<!a)b": "looks ahead or behind",
    r"(?>a+)b": "atomic group",
    r"a++b": "possessive repeat",
    r"(?i:a)": "sets flags for a part",
    r"(?x)a b": "flag that is not allowed",
    r"(a": "cannot be read: missing ), unterminated subpattern",
    r"a{2,1}": "cannot be read",
    r"*": "nothing to repeat",
    r"[": "cannot be read",
    r"[[a]": "Write a backslash before it",
    r"[a--b]": "Write a backslash before it",
    r"[a&&b]": "Write a backslash before it",
    r"a{99999999999999999999}": "cannot be read",
    "".join(f"{chr(character)}*;" for character in range(192, 213)): "more than 20 different",
    "a" * 501: "501 characters, and 500 are allowed",
}
USEFUL = {
    r"[\w.+-]+@[\w-]+\.[\w.]+": "write to anna@example.com or ben@mail.example.org",
    r"\b\d{4}-\d{2}-\d{2}\b": "from 2026-11-18 to 2026-11-20",
    r"(?i)total:\s*([\d.,]+)\s*(?:eur|€)": "Total: 1.299,00 EUR",
    r"^\s+|\s+$": "  text  ",
    r'"(?:[^"\\]|\\.)*"': r'say "a \"b\" c" now',
    r"(?:\d+,)*\d+": "1,22,333",
    r"(?:[a-z]+\.)+[a-z]{2,}": "see www.example.com",
    r"<[^>]+>": "<b>bold</b>",
    r"(?m)^#+ (.+)$": "# One\n## Two",
    r"(\w+) (\w+)": "one two three four",
    r"foo.*?bar": "foo and bar and bar",
    r"(?:foo|far|bar)+": "foofarbar",
    r"\[[0-9]+\]": "see [12]",
    r"(\+\d{1,3}[ -]?)?\(?\d{3}\)?[ -]?\d{3}[ -]?\d{4}": "+1 (555) 123-4567",
}


def refused(pattern: str) -> str:
    with pytest.raises(StepFailed) as raised:
        patterns.parse(pattern)
    return raised.value.failure.message


@pytest.mark.parametrize("pattern", EVIL)
def test_a_pattern_that_may_take_very_long_is_refused(pattern: str) -> None:
    assert re.search("may take too long|cannot be used", refused(pattern))


@pytest.mark.parametrize("pattern", NOT_SUPPORTED)
def test_what_is_not_supported_is_refused_with_the_reason(pattern: str) -> None:
    assert NOT_SUPPORTED[pattern] in refused(pattern)


@pytest.mark.parametrize("pattern", USEFUL)
def test_useful_patterns_match_as_in_python(pattern: str) -> None:
    text = USEFUL[pattern] * 20
    found = [match.span() for match in patterns.parse(pattern).search(text)]
    assert found
    assert found == [match.span() for match in re.finditer(pattern, text)]


@pytest.mark.parametrize("pattern", USEFUL)
def test_useful_patterns_search_a_text_of_many_lines(pattern: str) -> None:
    patterns.parse(pattern).check(f"{USEFUL[pattern]}\n" * 100)


def test_a_text_that_is_too_long_for_the_pattern_is_refused_before_the_search() -> None:
    pattern = patterns.parse("a+b")
    assert list(pattern.search("a" * 1_000)) == []
    assert list(pattern.search("a\n" * 50_000)) == []
    with pytest.raises(StepFailed, match="may take too long for this text"):
        next(pattern.search("a" * 50_000))
    with pytest.raises(StepFailed, match="A pattern may search 200,000"):
        next(pattern.search("x" * 200_001))
    with pytest.raises(StepFailed, match="more than 10,000 different characters"):
        next(pattern.search("".join(map(chr, range(20_000, 40_000)))))


def test_alternatives_with_a_common_character_are_not_repeated() -> None:
    assert patterns.parse("(?:[à-õ]y|[ö-þ]y)+x")
    assert "it repeats a group" in refused("(?:[à-ö]y|[ö-þ]y)+x")


def test_too_many_matches_are_refused() -> None:
    with pytest.raises(StepFailed, match=r"matches more than 10,000 times"):
        list(patterns.parse("a").search("a" * 10_001))


_ATOMS = ("a", "b", "[ab]", "[^a]", ".", r"\d", r"\w", "1", r"\b", "^", "$", "é")
_REPEATS = ("*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?", "??", "{0,40}")


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    groups = inner.map(lambda text: f"(?:{text})") | inner.map(lambda text: f"({text})")
    repeated = st.builds(str.__add__, groups | st.sampled_from(_ATOMS[:8]), st.sampled_from(_REPEATS))
    joined = st.lists(inner | repeated, min_size=2, max_size=4).map("".join)
    either = st.lists(inner, min_size=2, max_size=3).map(lambda texts: f"(?:{'|'.join(texts)})")
    return repeated | joined | either


_patterns = st.recursive(st.sampled_from(_ATOMS), _larger, max_leaves=8)
_texts = st.text("aaab1é \n", max_size=25)


def _accepted(text: str) -> patterns.Pattern:
    try:
        return patterns.parse(text)
    except StepFailed:
        assume(False)
        raise


@settings(max_examples=effort.examples(150))
@given(_patterns, _texts)
def test_an_accepted_pattern_matches_as_in_python(pattern: str, text: str) -> None:
    accepted = _accepted(pattern)
    try:
        found = [(match.span(), match.groups()) for match in accepted.search(text)]
    except StepFailed:
        assume(False)
        raise
    assert found == [(match.span(), match.groups()) for match in re.finditer(pattern, text)]


@settings(max_examples=effort.examples(300))
@given(_patterns, _texts)
def test_a_search_takes_no_more_steps_than_its_bound(pattern: str, text: str) -> None:
    accepted = _accepted(pattern)
    try:
        bound = steps.bound(accepted.nodes, accepted.compiled.flags, text)
    except steps.NotAllowed:
        assume(False)
        raise
    assert count_steps(accepted, text, most=bound) <= bound


@pytest.mark.parametrize("pattern", EVIL[:9])
def test_the_counted_steps_of_an_evil_pattern_explode(pattern: str) -> None:
    """The matcher that counts steps in the test above notices what it is for."""
    nodes = list(patterns._parser.parse(pattern))
    evil = patterns.Pattern(re.compile(pattern), nodes)
    assert count_steps(evil, "a" * 16 + "x" * 16 + "\n", most=20_000) > 20_000
