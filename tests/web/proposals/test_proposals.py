"""The review queue."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from registry.core import roles
from registry.models import Event, Project, Proposal, User, Version
from registry.services import permissions
from registry.services.permissions import Actor
from tests.services.footprint import nothing_left_behind
from tests.web.proposals.pages import LINES, QUEUE, now, suggest, text, url


def test_a_row_shows_title_skill_proposer_age_and_risk(
    project: Project, greeting: Version, bot: Actor, reviewer: Client
) -> None:
    made = suggest(project, bot, "Greet in Italian.\nMost guests do.", body=f"{LINES}\nSee https://evil.example/x\n")
    html = text(reviewer.get(QUEUE))
    row = html[html.index("data-row>") : html.index("</li>", html.index("data-row>"))]
    for words in (">Greet in Italian</a>", f"<span>{made.pk}</span>", ">greeting<", "Agent bot", "High risk"):
        assert words in row
    assert "avatar--agent" in row
    assert "less than a minute old" in row and "state--degraded" not in row
    assert "Most guests do" not in row


def test_a_proposal_that_has_waited_for_days_is_highlighted(made: Proposal, reviewer: Client) -> None:
    Proposal.objects.update(created_at=timezone.now() - timedelta(days=4))
    html = text(reviewer.get(QUEUE))
    assert html.count("state--degraded") == 1 and "4 days old" in html
    reviewer.post(url(made, "request-changes/"), {"comment": "Which guests?"})
    assert "state--degraded" not in text(reviewer.get(f"{QUEUE}?state=changes-requested"))


def test_a_row_shows_its_state_only_in_a_list_of_several_states(several: dict[str, Proposal], reviewer: Client) -> None:
    reviewer.post(url(several["human"], "reject/"), {"comment": "No."})

    def states(query: str) -> list[list[str]]:
        rows = text(reviewer.get(f"{QUEUE}{query}")).split("data-row>")[1:]
        return [re.findall("Rejected|Withdrawn|Approved", row.split("</li>")[0]) for row in rows]

    assert states("?state=decided") == [["Rejected"], ["Withdrawn"]]
    assert states("?state=rejected") == [[]]


def test_the_sidebar_counts_proposals_that_the_reviewer_can_approve(
    project: Project, made: Proposal, reviewer: Client, viewing: Client
) -> None:
    assert re.search(r'nav-count--yours">1<span class="vh"> waiting for you', text(reviewer.get(QUEUE)))
    user = User.objects.get(username=roles.REVIEWER)
    suggest(project, permissions.person(user, project), body=LINES.replace("Two", "Due"))
    assert re.search(r'nav-count--yours">1<', text(reviewer.get(QUEUE)))
    assert "nav-count" not in text(viewing.get(QUEUE))


@pytest.mark.slow
def test_the_number_of_queries_does_not_grow_with_the_proposals(
    project: Project, made: Proposal, bot: Actor, reviewer: Client, django_assert_max_num_queries: Any, settings: Any
) -> None:
    settings.OPEN_PROPOSALS_PER_AGENT = 100
    text(reviewer.get(QUEUE))
    for number in range(12):
        suggest(project, bot, f"Number {number}.", body=LINES.replace("Two", f"Two {number}"))
        if number in (0, 11):
            # session, user, membership; waiting and their skills; count, page, facts, own; counts of states, choices;
            # the switcher, the count in the sidebar, unread notices
            with django_assert_max_num_queries(16):
                text(reviewer.get(QUEUE))
    assert len(reviewer.get(QUEUE).context["rows"]) == 13


def test_empty_queue_explains_itself(project: Project, reviewer: Client, viewing: Client) -> None:
    assert "No proposals yet" in text(reviewer.get(QUEUE))
    assert "No proposals yet" in text(viewing.get(QUEUE))
    assert "No outdated proposals" in text(reviewer.get(f"{QUEUE}?state=stale"))


def test_several_proposals_are_rejected_with_one_reason(several: dict[str, Proposal], reviewer: Client) -> None:
    numbers = [several["made"].pk, several["human"].pk, several["back"].pk]
    answer = reviewer.post(QUEUE, {"proposal": numbers, "comment": "Not now."}, follow=True)
    assert "3 proposals rejected." in text(answer)
    for name in ("made", "human", "back"):
        decided = now(several[name])
        assert (decided.state, decided.decision_comment) == ("rejected", "Not now.")
    assert now(several["risky"]).state == "open"
    assert Event.objects.filter(verb="proposal.rejected").count() == 3


def test_decided_proposal_does_not_stop_a_bulk_rejection(several: dict[str, Proposal], reviewer: Client) -> None:
    numbers = [several["gone"].pk, several["made"].pk, 999_999]
    html = text(reviewer.post(QUEUE, {"proposal": numbers, "comment": "Not now."}))
    assert "2 proposals were not rejected." in html
    assert "was already withdrawn" in html
    assert "This proposal does not exist." in html
    assert now(several["made"]).state == "rejected"


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"comment": "No."}, "Select at least one proposal."),
        ({"comment": "No.", "proposal": ["x", "-1", "²"]}, "Select at least one proposal."),
        ({"comment": "No.", "proposal": list(range(1, 200))}, "You selected 199 proposals. 100 are allowed at once."),
    ],
)
def test_invalid_bulk_rejection_is_refused(made: Proposal, reviewer: Client, sent: dict[str, Any], said: str) -> None:
    with nothing_left_behind():
        assert said in text(reviewer.post(QUEUE, sent), 422)


def test_a_bulk_rejection_without_a_reason_keeps_the_selection(made: Proposal, reviewer: Client) -> None:
    with nothing_left_behind():
        html = text(reviewer.post(QUEUE, {"proposal": [made.pk], "comment": "  "}), 422)
    assert "The reason is missing." in html
    assert f'value="{made.pk}" checked' in html
