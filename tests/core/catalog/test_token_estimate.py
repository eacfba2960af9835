"""The estimate is close to a real tokenizer, is additive by line, and is fast."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.catalog import token_estimate
from tests import effort

PROSE = (
    "Fill in the travel expense report within thirty days of the last day of the trip. Attach every receipt "
    "above ten euros, and say which project pays for the hotel."
)
MARKDOWN = (
    "## Check the totals\n\n1. Open `report.xlsx` and compare column **F** with the receipts.\n2. Where they "
    "differ, see [the rules](references/rules.md).\n\n"
    "| kind | limit |\n|---|---|\n| hotel | 120 |\n| meal | 28 |\n"
)
CODE = (
    'def total(lines: list[Line]) -> Decimal:\n    """Sum of all lines that count."""\n'
    "    return sum((line.amount for line in lines if not line.private), Decimal(0))\n"
)
GERMAN = (
    "Die Reisekostenabrechnung ist spätestens dreißig Tage nach dem letzten Reisetag einzureichen. Bitte "
    "fügen Sie alle Belege über zehn Euro bei und nennen Sie die Kostenstelle."
)
CHINESE = "请在出差结束后三十天内提交差旅费报销单，并附上所有超过十欧元的收据。"
CSV = "id,date,customer,amount\n1001,2026-03-14,Anna Schmidt,120.50\n1002,2026-03-15,Jo Brown,7.00\n"

# Token counts of cl100k_base for each text.
MEASURED = [(PROSE, 33), (MARKDOWN, 59), (CODE, 39), (GERMAN, 50), (CHINESE, 35), (CSV, 41)]


@pytest.mark.parametrize(("text", "real"), MEASURED)
def test_the_estimate_is_within_an_eighth_of_a_real_tokenizer(text: str, real: int) -> None:
    assert abs(token_estimate.estimate(text) - real) <= real / 8


def test_an_empty_text_costs_nothing() -> None:
    assert token_estimate.estimate("") == 0


@pytest.mark.parametrize("text", [" ", "\n", "a", "\x00", "\ud800", "𓀀", "\u200b"])
def test_any_other_text_costs_at_least_one_token(text: str) -> None:
    assert token_estimate.estimate(text) >= 1


def test_padding_a_table_with_blanks_is_nearly_free() -> None:
    assert token_estimate.estimate("| a " + " " * 60 + "|\n") <= token_estimate.estimate("| a |\n") + 1


def test_a_drawn_line_does_not_cost_a_token_per_character() -> None:
    assert token_estimate.estimate("+" + "-" * 200 + "+\n") < 20


@given(st.text(), st.text())
@settings(max_examples=effort.examples(40))
def test_weights_add_up_line_by_line(first: str, second: str) -> None:
    assert token_estimate.weight(f"{first}\n{second}") == token_estimate.weight(f"{first}\n") + token_estimate.weight(
        second
    )


@given(st.text())
@settings(max_examples=effort.examples(40))
def test_more_text_never_costs_less(text: str) -> None:
    assert 0 <= token_estimate.estimate(text) <= token_estimate.estimate(text + "\nmore words")


@pytest.mark.parametrize("unit", ["aB", "A", "é", " ", "\t\n", "-", "_", "€", "x ", "1"])
def test_a_long_run_costs_no_more_than_its_characters(unit: str) -> None:
    assert 0 < token_estimate.estimate(unit * 50_000) <= 2 * 50_000 * len(unit.encode())
