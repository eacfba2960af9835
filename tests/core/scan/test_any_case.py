"""Patterns in any case find what re.IGNORECASE finds, at the same offsets."""

import re
import sys

import pytest

from registry.core.scan.any_case import AnyCase, fold

EVERY_CHARACTER = "".join(map(chr, [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]))


def spans(pattern: AnyCase | re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


def test_every_character_stays_at_its_place() -> None:
    assert len(fold(EVERY_CHARACTER)) == len(EVERY_CHARACTER)


@pytest.mark.parametrize(
    "letter", [*"aiksz", "ı", "å", "ß", "ğ", "в", "т", "ъ", "[a-z]", "[^a-z]", r"\w", r"\W", r"\S"]
)
def test_the_same_characters_match_as_with_ignorecase(letter: str) -> None:
    assert spans(AnyCase(letter), EVERY_CHARACTER) == spans(re.compile(letter, re.IGNORECASE), EVERY_CHARACTER)


@pytest.mark.parametrize("text", ["SEND it", "ſend İT", "ſENDS ıt", "send\nIt", "a send it"])
def test_capital_letters_in_a_pattern_and_its_escapes_are_kept(text: str) -> None:
    expression = r"(?P<verb>\bSend)\W(?!\D\S\Z)(?P<it>IT)"
    assert spans(AnyCase(expression), text) == spans(re.compile(expression, re.IGNORECASE), text)
    match = AnyCase(expression).search("please SEND it now")
    assert match and (match["verb"], match.start()) == ("send", 7)
