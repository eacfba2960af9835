"""Filters of the review queue, and links from one proposal to the next."""

import re

import pytest
from django.test import Client

from registry.models import Proposal
from tests.web.proposals.pages import QUEUE, text, url

FILTERED = [
    ("", ["made", "risky", "human"]),
    ("?sort=newest", ["human", "risky", "made"]),
    ("?sort=risk", ["risky", "made", "human"]),
    ("?risk=high", ["risky"]),
    ("?proposer=people", ["human"]),
    ("?proposer=agents", ["made", "risky"]),
    ("?proposer=agent:bot", ["made", "risky"]),
    ("?proposer=person:viewer", ["human"]),
    ("?proposer=person:nobody", []),
    ("?skill=greeting", ["made", "risky", "human"]),
    ("?skill=other", []),
    ("?state=changes-requested", ["back"]),
    ("?state=stale", []),
    ("?state=decided", ["gone"]),
    ("?state=withdrawn", ["gone"]),
    ("?state=approved", []),
    ("?state=nonsense&risk=nonsense&sort=nonsense&page=nonsense", ["made", "risky", "human"]),
]


@pytest.mark.slow
def test_filters_are_read_from_the_address(several: dict[str, Proposal], reviewer: Client) -> None:
    for query, found in FILTERED:
        rows = reviewer.get(f"{QUEUE}{query}").context["rows"]
        assert [row.proposal.pk for row in rows] == [several[name].pk for name in found], query


def test_next_and_previous_link_to_waiting_proposals(several: dict[str, Proposal], reviewer: Client) -> None:
    html = text(reviewer.get(url(several["risky"])))
    assert f'rel="prev" href="{url(several["made"])}"' in html
    assert f'rel="next" href="{url(several["human"])}"' in html
    assert 'rel="next"' not in text(reviewer.get(url(several["human"])))


@pytest.mark.parametrize("answer", ["reject/", "request-changes/"])
def test_a_decided_proposal_links_to_its_waiting_neighbours(
    several: dict[str, Proposal], reviewer: Client, viewing: Client, answer: str
) -> None:
    reviewer.post(url(several["risky"], answer), {"comment": "No."})
    html = text(reviewer.get(url(several["risky"])))
    assert f'rel="prev" href="{url(several["made"])}"' in html
    assert f'rel="next" href="{url(several["human"])}"' in html
    assert 'rel="prev"' not in text(viewing.get(url(several["gone"])))


@pytest.mark.slow
def test_next_and_previous_follow_the_filters_of_the_queue(several: dict[str, Proposal], reviewer: Client) -> None:
    made, risky, human = several["made"], several["risky"], several["human"]
    reviewer.get(f"{QUEUE}?sort=risk")
    assert beside(reviewer, risky) == (None, url(made))
    assert beside(reviewer, made) == (url(risky), url(human))
    reviewer.get(f"{QUEUE}?sort=newest")
    assert beside(reviewer, risky) == (url(human), url(made))
    reviewer.get(f"{QUEUE}?proposer=agents")
    assert beside(reviewer, risky) == (url(made), None)
    assert f'<a href="{QUEUE}?proposer=agents" data-queue>' in text(reviewer.get(url(risky)))
    assert beside(reviewer, human) == (url(risky), None), "not of that queue: among all that wait"
    reviewer.get(f"{QUEUE}?state=decided")
    assert beside(reviewer, several["gone"]) == (None, None)
    assert beside(reviewer, risky) == (url(made), url(human))


@pytest.mark.slow
@pytest.mark.parametrize("order", ["newest", "risk", "oldest"])
def test_a_decided_proposal_keeps_its_place_in_the_queue(
    several: dict[str, Proposal], reviewer: Client, order: str
) -> None:
    reviewer.get(f"{QUEUE}?sort={order}")
    for each in (several["made"], several["risky"], several["human"]):
        stood = beside(reviewer, each)
        reviewer.post(url(each, "request-changes/"), {"comment": "Not yet."})
        assert beside(reviewer, each) == stood
        Proposal.objects.filter(pk=each.pk).update(state="open")


def beside(client: Client, proposal: Proposal) -> tuple[str | None, str | None]:
    html = text(client.get(url(proposal)))
    before, after = (re.search(f'rel="{way}" href="([^"]+)"', html) for way in ("prev", "next"))
    return before and before[1], after and after[1]
