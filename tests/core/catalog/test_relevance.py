"""Order of the skills that match a query."""

import pytest

from registry.core.catalog import relevance
from registry.core.catalog.precedence import Candidate


def skill(name: str, description: str = "", tags: tuple[str, ...] = (), triggers: tuple[str, ...] = ()) -> Candidate:
    return Candidate(name, "project", "1", "", description, "tool", tags, (), triggers)


EXACT = skill("late-shipment", "Something.")
IN_NAME = skill("late-reply", "About a shipment.")
IN_TAGS = skill("answers", "Something.", ("late", "shipment"))
IN_DESCRIPTION = skill("letters", "What to write when a shipment is late.")
IN_PART = skill("other", "Lateness of shipments.")


def test_the_name_counts_most_and_a_part_of_a_word_least() -> None:
    found = relevance.ordered([IN_PART, IN_DESCRIPTION, IN_TAGS, IN_NAME, EXACT], ["late", "shipment"])
    assert found == [EXACT, IN_NAME, IN_TAGS, IN_DESCRIPTION, IN_PART]


def test_a_trigger_counts_as_a_tag() -> None:
    triggered = skill("b", "x", triggers=("where is my parcel",))
    assert relevance.ordered([skill("a", "parcel"), triggered], ["parcel"]) == [triggered, skill("a", "parcel")]


@pytest.mark.parametrize("names", [("b", "a", "c"), ("c", "b", "a")])
def test_equal_scores_are_sorted_by_name(names: tuple[str, ...]) -> None:
    found = relevance.ordered([skill(name, "word") for name in names], ["word"])
    assert [one.name for one in found] == ["a", "b", "c"]
