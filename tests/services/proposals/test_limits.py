"""Limits on the proposals and comments of people and agents."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Conflict, RateLimited
from registry.core.proposals.lifecycle import State
from registry.core.text import edits
from registry.models import Project, ProposalRevision, User
from registry.services import permissions
from registry.services.people import members
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from tests.conftest import skill_text
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import propose, rewrite, suggest


def test_number_of_waiting_proposals_of_a_person_is_limited_in_each_project(
    project: Project, other_project: Project, skill: str, author: Actor, operator: Actor, settings: Any
) -> None:
    settings.OPEN_PROPOSALS_PER_PERSON = 1
    first = propose(project, author)
    with pytest.raises(Conflict, match=r"author has 1 proposals .* 1 are allowed"):
        propose(project, author, rewrite(One="Un"))
    members.set_role(other_project, User.objects.get(pk=author.user_id), roles.VIEWER, by=operator)
    elsewhere = permissions.person(User.objects.get(pk=author.user_id), other_project)
    propose(other_project, elsewhere, edits.parse(skill_md=skill_text("fresh")), skill="fresh")
    proposals.withdraw(project, first.pk, by=author)
    assert propose(project, author, rewrite(One="Un")).state == State.OPEN


@pytest.mark.parametrize("who", ["author", "bot"])
def test_proposals_and_revisions_of_an_hour_are_limited(
    project: Project, skill: str, request: pytest.FixtureRequest, settings: Any, who: str
) -> None:
    by, settings.PROPOSALS_PER_HOUR = request.getfixturevalue(who), 2
    first = propose(project, by)
    proposals.revise(project, first.pk, suggest(rewrite(One="Un")), by=by)
    for act in (
        lambda: propose(project, by, rewrite(One="Eins")),
        lambda: proposals.revise(project, first.pk, suggest(rewrite(One="Eins")), by=by),
    ):
        with nothing_left_behind(), pytest.raises(RateLimited, match=f"{who} sent 2 proposals and revisions") as error:
            act()
        assert 3_500 < error.value.data["retry_after"] <= 3_600  # type: ignore[operator]
    ProposalRevision.objects.filter(number=1).update(created_at=timezone.now() - timedelta(minutes=59))
    with pytest.raises(RateLimited, match="Try again in 1 minute\\."):
        propose(project, by, rewrite(One="Eins"))
    ProposalRevision.objects.filter(number=1).update(created_at=timezone.now() - timedelta(minutes=61))
    assert propose(project, by, rewrite(One="Eins")).state == State.OPEN


@pytest.mark.parametrize("act", ["propose", "revise", "comment"])
def test_parallel_requests_do_not_exceed_the_limit_of_an_hour(
    project: Project, skill: str, author: Actor, settings: Any, act: str
) -> None:
    """The same person sends another request of the kind while the first one waits for the lock of the project."""
    made, settings.PROPOSALS_PER_HOUR = propose(project, author), 1 if act == "comment" else 2
    acts: dict[str, Callable[[str], object]] = {
        "propose": lambda text: propose(project, author, rewrite(One=text)),
        "revise": lambda text: proposals.revise(project, made.pk, suggest(rewrite(One=text)), by=author),
        "comment": lambda text: proposals.comment(project, made.pk, text, by=author),
    }
    done: list[str] = []

    def act_once(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        if 'FROM "registry_chain"' in sql and not done:
            done.append(act)
            acts[act]("Un")
        return execute(sql, *arguments)

    with connection.execute_wrapper(act_once), pytest.raises(RateLimited, match="within an hour"):
        acts[act]("Eins")
    assert done == [act]


def test_comments_of_an_hour_are_limited(project: Project, skill: str, author: Actor, settings: Any) -> None:
    made, settings.PROPOSALS_PER_HOUR = propose(project, author), 1
    proposals.comment(project, made.pk, "One.", by=author)
    with nothing_left_behind(), pytest.raises(RateLimited, match="author wrote 1 comments within an hour"):
        proposals.comment(project, made.pk, "Two.", by=author)
