"""Words of texts and questions as terms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.routing import words
from registry.core.routing.stemming import stem
from tests import effort


def stems(text: str) -> list[str]:
    return [term.stem for term in words.query(text).terms]


@pytest.mark.parametrize(
    "forms",
    [
        ("migrate", "migrating", "migration", "migrations", "migrated"),
        ("deploy", "deployment", "deployed", "deploying"),
        ("company", "companies"),
        ("refund", "refunds", "refunded"),
        ("analysis", "analyses", "analyze", "analysing"),
        ("price", "prices", "pricing"),
        ("stop", "stopped", "stopping"),
        ("ad", "ads"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(("one", "other"), [("policy", "police"), ("class", "clap"), ("test", "text"), ("bus", "bu")])
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@given(st.text("aeilnsty", min_size=1, max_size=6), st.sampled_from(("", "s", "es", "ed", "ing", "y", "eed", "ion")))
@settings(max_examples=effort.examples(300), deadline=None)
def test_every_word_has_a_stem(start: str, end: str) -> None:
    assert 0 < len(stem(start + end)) <= len(start + end) + 1


@given(st.text("ac+#f.net's_ \n-t9'ZX", max_size=30))
@settings(max_examples=effort.examples(300), deadline=None)
def test_ascii_is_read_like_any_other_text(text: str) -> None:
    """A word with an accent behind the text makes the general expression read it."""
    assert [*words.words(text), "e"] == [*words.words(f"{text} é")]
    assert [*words.terms(text), "e"] == words.terms(f"{text} é")


def test_case_accents_and_width_do_not_count() -> None:
    assert stems("CAFÉ Straße ﬁle ＡＢＣ") == stems("cafe strasse file abc")


def test_languages_without_spaces_become_pairs_of_characters() -> None:
    assert stems("退款政策") == ["退款", "款政", "政策"]
    assert stems("환불 정책") == ["환불", "정책"]
    assert stems("返金ポリシー")[:2] == ["返金", "金ポ"]
    assert stems("米") == ["米"]


def test_names_of_languages_keep_their_signs() -> None:
    assert stems("C++ and C# or F#") == ["c++", "c#", "f#"]


@pytest.mark.parametrize("text", ["", "   ", "the of and", "?!", "🙂🙂", "\0", "\u202e\u200b", "how do I do it?"])
def test_a_question_without_a_word_of_meaning_is_empty(text: str) -> None:
    assert words.query(text).empty


def test_words_of_asking_and_of_background_weigh_less() -> None:
    weights = {
        term.word: term.weight
        for term in words.query("We are a bakery in Ulm. Help me to write an invoice for flour.").terms
    }
    assert weights["invoice"] == 1.0
    assert weights["help"] < 0.5
    assert 0 < weights["bakery"] < weights["invoice"]


def test_the_head_is_the_first_part_that_asks_for_something() -> None:
    heads = {
        term.word for term in words.query("Write a cold email for our new accounting product").terms if term.in_head
    }
    assert heads == {"write", "cold", "email"}


def test_a_long_text_is_bounded_and_its_start_weighs_most() -> None:
    query = words.query(" ".join(f"word{number}" for number in range(3_000)))
    assert len(query.terms) == words.QUERY_TERMS
    assert query.terms[0].weight == 1.0
    assert query.terms[-1].weight < 0.25
    assert len(words.query("x" * 20_000).terms[0].stem) <= words.WORD_CHARS


def test_only_the_start_of_a_long_question_is_read() -> None:
    start = "We are a shop. How do we refund? ".ljust(words.QUERY_CHARS)
    assert [term.word for term in words.query(f"{start} invoice").terms] == ["shop", "refund"]
    assert words.query(start).asking == "How do we refund?"
    assert not words.query(f"{start} invoice").asking, "the sentences of a long text are not told apart"


@settings(max_examples=effort.examples(50))
@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    query = words.query(text)
    assert len({term.stem for term in query.terms}) == len(query.terms)
    assert all(0 < term.weight <= 1 for term in query.terms)
    assert all(0 <= at < len(query.terms) for at in query.order)
    assert all(0 <= words.term_hash(term.stem) < 2**64 for term in query.terms)
