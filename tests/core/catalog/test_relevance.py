"""Order of the skills that match a query."""

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
    ordered = [EXACT, IN_NAME, IN_TAGS, IN_DESCRIPTION, IN_PART]
    scores = [relevance.score(one, ["late", "shipment"]) for one in ordered]
    assert scores == sorted(set(scores), reverse=True)


def test_a_trigger_counts_as_a_tag() -> None:
    triggered = skill("b", "x", triggers=("where is my parcel",))
    assert relevance.score(triggered, ["parcel"]) > relevance.score(skill("a", "parcel"), ["parcel"])


def test_a_word_that_is_nowhere_scores_nothing() -> None:
    assert relevance.score(EXACT, ["parcel"]) == 0
