"""The links of the chain: what they find, and the reasons they give."""

import numpy as np
import pytest

from registry.core.routing import analysis, question, skill_text
from registry.core.routing.index import Index
from registry.core.routing.link import Link, Unavailable
from registry.core.routing.links.full_text import FullText
from registry.core.routing.links.meaning import Meaning
from registry.core.routing.links.names import Names
from registry.core.routing.links.summary import Summary
from registry.core.routing.links.triggers import Triggers
from registry.core.routing.question import Question
from tests.core.routing.samples import Hashed

TEXTS = (
    skill_text.of_parts(
        "refund-desk",
        "Refunds",
        "Pays money back to customers.",
        "# Refunds\n\nOpen the ledger.",
        triggers=["lost parcel"],
    ),
    skill_text.of_parts("deploy-site", "Deploy", "Puts a release live.", "# Deploy\n\nRestart the pod."),
)


def found(link: Link[Question], text: str, encoder: Hashed | None = None) -> dict[str, str]:
    """Return the names that a link finds, best first, with their reasons."""
    index = Index.of([analysis.analyse(each, encoder) for each in TEXTS])
    matches = link.rank(question.ask(text, index, encoder), index.rows)
    return {index.names[row]: matches.reason(int(row)) for row in matches.rows[np.argsort(-matches.scores)]}


@pytest.mark.parametrize(
    ("link", "text", "reasons"),
    [
        (Names(), "refunds", {"refund-desk": "“refunds” is in the name."}),
        (Names(), "Refund Desk", {"refund-desk": "The question is its name."}),
        (Triggers(), "a parcel", {}),
        (Triggers(), "my lost parcels", {"refund-desk": "The question contains “lost parcel”."}),
        (Triggers(), "Lost parcel?", {"refund-desk": "The question is one of its triggers or phrases."}),
        (Summary(), "customer money", {"refund-desk": "“customer” and “money” are in the description."}),
        (Summary(), "ledger", {"refund-desk": "“ledger” is in the introduction."}),
        (FullText(), "restarting pods", {"deploy-site": "“pods” and “restarting” are in the introduction."}),
        (Summary(), "zebra", {}),
        (FullText(), "zebra", {}),
    ],
)
def test_a_link_says_why_it_found_a_skill(link: Link[Question], text: str, reasons: dict[str, str]) -> None:
    assert {name: " ".join(sorted(why.split())) for name, why in found(link, text).items()} == {
        name: " ".join(sorted(why.split())) for name, why in reasons.items()
    }


@pytest.mark.parametrize("text", ["refund-desk", "Refund desk", "REFUND_DESK", " refund  desk "])
def test_a_question_that_is_a_name_is_certain(text: str) -> None:
    index = Index.of([analysis.analyse(each) for each in TEXTS])
    asked = question.ask(text, index)
    assert Names().rank(asked, index.rows).certain
    others = index.rows[index.rows != index.row_of["refund-desk"]]
    assert not Names().rank(asked, others).certain


def test_meaning_names_the_nearest_phrase() -> None:
    reason = found(Meaning(), "lost parcel", Hashed())["refund-desk"]
    assert reason == "Close in meaning to “lost parcel”."


def test_meaning_compares_the_name_too() -> None:
    assert found(Meaning(), "a desk", Hashed())["refund-desk"] == "Close in meaning to “refund-desk”."


def test_meaning_is_unavailable_without_vectors() -> None:
    with pytest.raises(Unavailable):
        found(Meaning(), "refunds")


@pytest.mark.parametrize("text", ["where is my parcel", "Where is my parcel?", "“Where is MY parcel”"])
def test_a_question_that_is_a_trigger_finds_its_skill_before_one_with_its_words_in_the_name(text: str) -> None:
    tracking = skill_text.of_parts("order-status", "", "Looks up orders.", "", triggers=["where is my parcel"])
    sender = skill_text.of_parts(
        "parcel", "Parcel", "Sends a parcel. Parcel labels, parcel prices.", "# Parcel\n\nParcel."
    )
    index = Index.of([analysis.analyse(each) for each in (tracking, sender)])
    scores = question.ask(text, index).text_scores(index.rows).total
    assert scores[index.row_of["order-status"]] > scores[index.row_of["parcel"]]
