"""The people who may answer a question of a run. Answers, the queue and notifications share this rule.

They review in the project, the question asks them or names nobody, and for an approval the run is not their own.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Forbidden
from registry.core.workflows.plan import Approvers
from registry.core.workflows.records import Asks
from registry.models import Membership, Run, RunApproval, RunQuestion, Token, User
from registry.models.workflows import RunQuestionQuerySet
from registry.services.notifications.recipients import REVIEWING
from registry.services.permissions import Actor

_MOST_ABLE = 500  # members who are looked at for the list of those who may answer

# Their answer decides about a call, so nobody gives it for their own run.
NEEDS_OTHERS = (Asks.APPROVE.value, Asks.DOUBT.value)
OWN_RUN = "You can’t approve your own run, or one by an agent or a person you made a token for. Ask another reviewer."
TOO_LATE = "The time to answer has run out. The run goes on without an answer within a minute."
_NAMED = 10  # people in an error


def approvers(question: RunQuestion) -> Approvers:
    return Approvers(tuple(question.people), tuple(question.roles), question.needed)


def is_asked(question: RunQuestion, by: Actor) -> bool:
    """Return whether a question names this person or their role, or nobody."""
    return approvers(question).include(by.name, _role(question.run, by))


@dataclass(frozen=True, slots=True)
class Answerer:
    """An actor in front of the questions of one run. `is_barred` means that the run is their own."""

    actor: Actor
    role: str
    is_barred: bool

    def obstacle(self, question: RunQuestion, approved_by: Collection[int]) -> str:
        """Return why they cannot answer an open question, empty if they can."""
        if question.expires_at is not None and question.expires_at <= timezone.now():
            return TOO_LATE
        if self.actor.user_id is None or not self.actor.may(roles.REVIEW):
            return "Only reviewers can answer the questions of a run."
        if not approvers(question).include(self.actor.name, self.role):
            return "This question is for other people. It names who may answer it."
        if self.is_barred and question.kind in NEEDS_OTHERS:
            return OWN_RUN
        if self.actor.user_id in approved_by:
            return "You have approved this already. Other people have to approve it too."
        return ""


def answerer(run: Run, by: Actor) -> Answerer:
    """Return an actor with what decides about their answers. This costs two queries for a reviewer."""
    if by.user_id is None or not by.may(roles.REVIEW):
        return Answerer(by, "", is_barred=True)
    return Answerer(by, _role(run, by), is_barred(run, by))


def _role(run: Run, by: Actor) -> str:
    role = Membership.objects.filter(project=run.project_id, user=by.user_id).values_list("role", flat=True)
    return role.first() or ""


def require_other(question: RunQuestion, by: Actor) -> None:
    """Refuse an approval of one's own run, and name the people who can give it."""
    if not is_barred(question.run, by):
        return
    members = Membership.objects.filter(project=question.run.project_id, user__is_active=True)
    rows = list(members.filter(role__in=REVIEWING).select_related("user").order_by("user__username"))
    allowed = among(rows, question, barred_people(question.run))
    names = [member.user.username for member in rows if member.user_id in allowed and member.user_id != by.user_id]
    others = f"These people can: {', '.join(names[:_NAMED])}." if names else "Nobody else here can approve it."
    raise Forbidden(f"{OWN_RUN} {others}", answerers=names[:_NAMED])


def is_barred(run: Run, by: Actor) -> bool:
    """Return whether an actor may not approve the calls of a run, because it is their own."""
    return Run.objects.filter(pk=run.pk).barring(identities(by)).exists()


def is_of_own_agent(run: Run, by: Actor) -> bool:
    """Return whether an actor made a token of the agent that started a run, whatever the project allows."""
    return Run.objects.filter(pk=run.pk).of_own_agents(identities(by)).exists()


def identities(by: Actor) -> list[int]:
    """Return the people that an actor stands for: the person, and the maker of the token."""
    return [person for person in (by.user_id, by.maker_id) if person is not None]


def standing(questions: Iterable[RunQuestion]) -> dict[int, list[tuple[int, str]]]:
    """Return the approvals that count, oldest first: ids and names of people by question. This costs one query.

    The approval of somebody who is no longer asked, because they left the project or have another role, does not count.
    """
    asked = {question.pk: approvers(question) for question in questions}
    rows = RunApproval.objects.filter(
        question__in=asked, user__is_active=True, user__memberships__project=F("question__run__project"),
        user__memberships__role__in=REVIEWING,
    ).order_by("pk")  # fmt: skip
    found: dict[int, list[tuple[int, str]]] = {}
    for pk, user, name, role in rows.values_list("question", "user", "user__username", "user__memberships__role"):
        if asked[pk].include(name, role):
            found.setdefault(pk, []).append((user, name))
    return found


def not_barred(questions: RunQuestionQuerySet, people: list[int]) -> RunQuestionQuerySet:
    """Leave out the approvals of these people's own runs, and the questions that one of them has approved."""
    own = Run.objects.filter(pk=OuterRef("run")).barring(people)
    approved = RunApproval.objects.filter(question=OuterRef("pk"), user__in=people)
    return questions.filter(~Exists(approved)).exclude(Q(kind__in=NEEDS_OTHERS) & Exists(own))


def barred_people(run: Run) -> set[int]:
    """Return the users who may not approve the calls of a run."""
    if run.agent_id is not None and run.project.makers_approve:
        return set()
    made = Token.objects.filter(Q(agent=run.agent_id, agent__isnull=False) | Q(user=run.user_id, user__isnull=False))
    makers = made.filter(project=run.project_id, owner__isnull=False).values_list("owner", flat=True)
    return {person for person in (run.user_id, run.through_id, *makers) if person is not None}


def among(members: Iterable[Membership], question: RunQuestion, barred: set[int]) -> set[int]:
    """Return the members who may answer a question. `barred` are the users who may not approve its run."""
    asked = approvers(question)
    return {
        member.user_id
        for member in members
        if member.role in REVIEWING and asked.include(member.user.username, member.role)
        if question.kind not in NEEDS_OTHERS or member.user_id not in barred
    }


def able(run: Run, questions: Sequence[RunQuestion]) -> list[list[User]]:
    """Return the people who may answer each of these questions of a run, sorted by name. This costs three queries."""
    found = Membership.objects.for_list(run.project).filter(role__in=REVIEWING, user__is_active=True)
    members, barred = list(found[:_MOST_ABLE]), barred_people(run)
    chosen = [among(members, question, barred) for question in questions]
    return [[member.user for member in members if member.user_id in each] for each in chosen]
