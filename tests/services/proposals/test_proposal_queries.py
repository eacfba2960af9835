"""Visibility of proposals, and the details of one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.core.errors import NotFound
from registry.core.proposals.lifecycle import State
from registry.core.text import edits
from registry.models import Agent, Project, User
from registry.services.permissions import Actor
from registry.services.proposals import proposal_queries, proposals, rebasing, recommendations, reviews
from registry.services.proposals.prepare import Suggestion
from tests import prepared
from tests.conftest import on_disk, skill_text
from tests.prepared import disable_skill
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import WHY, propose, rewrite, save


def test_agents_see_their_own_proposals_and_reviewers_see_all(
    project: Project, skill: str, bot: Actor, other_bot: Actor, viewer: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    for stranger in (other_bot, viewer):
        assert list(proposals.list_proposals(project, by=stranger)) == []
        with pytest.raises(NotFound, match="This proposal does not exist"):
            proposals.find(project, made.pk, by=stranger)
    assert [found.pk for found in proposals.list_proposals(project, by=bot)] == [made.pk]
    assert [found.pk for found in proposals.list_proposals(project, by=reviewer)] == [made.pk]
    assert list(proposals.list_proposals(project, mine=True, by=reviewer)) == []


def test_an_agent_that_recommends_sees_only_proposals_for_skills_it_can_load(
    project: Project, skill: str, author: Actor, bot: Actor, other_bot: Actor
) -> None:
    Project.objects.update(reviewer_agents=True)
    made = propose(project, bot)

    def seen() -> list[int]:
        return [found.pk for found in proposals.list_proposals(project, mine=False, by=other_bot)]

    assert seen() == [made.pk]
    Agent.objects.filter(pk=other_bot.agent_id).update(allowed_skills=["other"])
    assert seen() == []
    with nothing_left_behind(), pytest.raises(NotFound):
        recommendations.recommend(project, made.pk, verdict="approve", reason="Good.", by=other_bot)
    Agent.objects.filter(pk=other_bot.agent_id).update(uses_skills=["greeting"])
    assert seen() == [made.pk]
    disable_skill(project, "greeting", by=author)
    assert seen() == []


def test_an_agent_that_lost_a_skill_sees_the_state_of_its_proposal_without_its_text(
    project: Project, skill: str, author: Actor, bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    assert proposal_queries.details(project, made.pk, by=bot).content is not None
    save(project, author, Nine="A line that the agent is not given")
    Agent.objects.filter(pk=bot.agent_id).update(allowed_skills=["other"])
    rebasing.rebase(project, made.pk, by=reviewer)
    seen = proposal_queries.details(project, made.pk, by=bot)
    assert (seen.proposal.state, seen.content) == (State.OPEN, None)
    assert proposal_queries.details(project, made.pk, by=reviewer).content is not None


def test_proposal_is_not_visible_in_another_project(
    project: Project, other_project: Project, skill: str, bot: Actor, person: Callable[[str], User], operator: Actor
) -> None:
    made = propose(project, bot)
    stranger = Actor("person", "x", other_project.pk, frozenset(roles.SCOPES), user_id=person(roles.OWNER).pk)
    with pytest.raises(NotFound):
        proposals.find(other_project, made.pk, by=stranger)
    with pytest.raises(NotFound):
        reviews.approve(other_project, made.pk, result_digest=made.result_digest, by=stranger)


def test_a_list_is_filtered_by_state_and_skill(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    first = propose(project, bot)
    second = propose(project, bot, edits.parse(skill_md=skill_text("fresh")), skill="fresh")
    reviews.reject(project, first.pk, comment="No.", by=reviewer)
    listed = [[found.pk for found in proposals.list_proposals(project, by=bot, **by)] for by in (
        {"state": "rejected"}, {"state": "open"}, {"skill": "greeting"}, {})]  # fmt: skip
    assert listed == [[first.pk], [second.pk], [first.pk], [second.pk, first.pk]]


def test_details_contain_the_assessment(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    made = propose(project, bot, rewrite(One="Ask https://a.example"))
    seen = proposal_queries.details(project, made.pk, by=reviewer)
    assert seen.content is not None
    assert [change.path for change in seen.content.changes] == [SKILL_MD]
    assert "+Ask https://a.example\n" in seen.content.changes[0].patch
    assert seen.content.assessment.risk == "high"
    assert [each.name for each in seen.content.assessment.capabilities.added] == ["a.example"]


def test_an_assessment_is_computed_once(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    made = propose(project, bot, rewrite(One="Ask https://a.example"))
    first, again = (proposal_queries.details(project, made.pk, by=reviewer).content for _ in range(2))
    assert first is not None
    assert again is not None
    assert again.assessment is first.assessment


def test_deletion_is_compared_with_the_built_in_skill(
    project: Project, library: Path, skill: str, bot: Actor, reviewer: Actor
) -> None:
    on_disk(library, body="The bundled text.")
    made = prepared.propose(project, Suggestion("greeting", None, WHY, kind="delete"), by=bot).proposal
    seen = proposal_queries.details(project, made.pk, by=reviewer)
    assert seen.content is not None and seen.content.after is not None
    assert b"The bundled text." in seen.content.after[SKILL_MD]
