"""Comments, recommendations and backers on the page of a proposal."""

from django.test import Client

from registry.core import roles
from registry.models import Project, Proposal
from registry.services import permissions
from registry.services.permissions import Actor
from registry.services.proposals import recommendations
from tests.prepared import ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.web.proposals.pages import QUEUE, now, suggest, text, url


def test_the_thread_shows_comments(made: Proposal, reviewer: Client) -> None:
    answer = reviewer.post(url(made, "comment/"), {"comment": "Which\nguests?"})
    assert answer["Location"] == url(made, "#talk")
    assert "Which\nguests?" in text(reviewer.get(url(made)))
    with nothing_left_behind():
        html = text(reviewer.post(url(made, "comment/"), {"comment": " "}), 422)
    assert 'id="f-talk-error"' in html


def test_recommendation_of_an_agent_is_shown(
    project: Project, made: Proposal, operator: Actor, reviewer: Client
) -> None:
    Project.objects.update(reviewer_agents=True)
    judge = permissions.agent(ensure_agent(project, "judge", by=operator), frozenset({roles.PROPOSE}))
    recommendations.recommend(project, made.pk, verdict="reject", reason="Guests are French.", by=judge)
    html = text(reviewer.get(url(made)))
    assert "Agent judge recommends to reject it" in " ".join(html.split())
    assert "Guests are French." in html
    assert now(made).state == "open"


def test_other_backers_are_named(project: Project, made: Proposal, viewer: Actor, reviewer: Client) -> None:
    suggest(project, viewer, "I met it as well.")
    html = text(reviewer.get(url(made)))
    assert "proposed the same change" in html
    assert "I met it as well." in html
    assert "and 1 other" in text(reviewer.get(QUEUE))
