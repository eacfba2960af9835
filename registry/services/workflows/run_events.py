"""Events of runs, for the audit log, webhooks and the inbox."""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Count

from registry.core.notifications import events
from registry.core.notifications.events import Event, QuestionRef, RunRef
from registry.core.workflows.question_text import headline
from registry.core.workflows.records import RunState
from registry.models import Membership, Run, RunQuestion, Token
from registry.models.workflows import OPEN
from registry.services.notifications import run_notifications
from registry.services.notifications.recipients import Recipient, display_name, excerpt, members_of
from registry.services.permissions import Actor
from registry.services.workflows import answerers

STARTED, WAITING, CANCELLED, REPLAYED = "run.started", "run.waiting", "run.cancelled", "run.replayed"
COMPLETED, FAILED, DENIED, EXPIRED = "run.completed", "run.failed", "run.denied", "run.expired"
QUESTION_APPROVED, QUESTION_DENIED = "question.approved", "question.denied"
QUESTION_ANSWERED, QUESTION_EXPIRED = "question.answered", "question.expired"

ENDINGS = {
    RunState.COMPLETED: COMPLETED,
    RunState.FAILED: FAILED,
    RunState.DENIED: DENIED,
    RunState.EXPIRED: EXPIRED,
    RunState.CANCELLED: "run.ended",  # `run.cancelled` is the request of a person
}

# For each verb, the event that people and webhooks are notified about, and the state of the run after it.
_ANNOUNCED = {
    STARTED: (events.RUN_STARTED, RunState.QUEUED),
    WAITING: (events.RUN_WAITING, RunState.WAITING),
    COMPLETED: (events.RUN_COMPLETED, RunState.COMPLETED),
    FAILED: (events.RUN_FAILED, RunState.FAILED),
    DENIED: (events.RUN_DENIED, RunState.DENIED),
    EXPIRED: (events.RUN_EXPIRED, RunState.EXPIRED),
    "run.ended": (events.RUN_CANCELLED, RunState.CANCELLED),
}
_LISTED = 20  # questions in the payload of a webhook


def announce(verb: str, run: Run, *, by: Actor, text: str = "") -> None:
    """Notify people and webhooks, in the transaction of the change. `text` is the reason of an end."""
    kind, state = _ANNOUNCED[verb]
    ref = RunRef(run.pk, run.version, state.value, run.code)
    event = Event(kind, run.skill, by.kind, by.name, excerpt(text), run=ref)
    if verb == STARTED:
        members = members_of(run.project_id, set(), by, reviewers=False)
        run_notifications.notify(event, ref, run.project_id, (), who=display_name(by, members))
    elif verb == WAITING:
        _announce_questions(run, event, ref, by=by)
    else:
        run_notifications.close_waiting(run.pk)
        members = members_of(run.project_id, _starters(run, kind), by, reviewers=False)
        concerned = [Recipient(member, event) for member in members if member.user.username != run.cancelled_by]
        run_notifications.notify(event, ref, run.project_id, concerned, who=by.name)


def announce_late_question(question: RunQuestion, *, by: Actor) -> None:
    """Notify the people who were asked that nobody answered in time."""
    run = question.run
    asked = QuestionRef(question.pk, question.path, question.kind)
    ref = RunRef(run.pk, run.version, run.state, asked=1, questions=(asked,))
    text = headline(question.kind, question.shown)
    event = Event(events.QUESTION_EXPIRED, run.skill, by.kind, by.name, excerpt(text), run=ref)
    members = members_of(run.project_id, set(), by, reviewers=True)
    chosen = answerers.among(members, question, answerers.barred_people(run))
    concerned = [Recipient(member, event) for member in members if member.user_id in chosen]
    run_notifications.notify(event, ref, run.project_id, concerned, who=by.name)


def close_questions(run_id: int) -> None:
    """Take the run out of the inboxes of those who were asked, if it has no open question any more."""
    if not RunQuestion.objects.filter(run=run_id, state=OPEN).exists():
        run_notifications.close_waiting(run_id)


def _starters(run: Run, kind: str) -> set[int]:
    """Return the users to notify about an end: who started the run, or for a bad end the makers of its agent's tokens.

    Agents run workflows all day, so nobody is notified when all went well.
    """
    if run.user_id is not None:
        return {run.user_id}
    if run.agent_id is None or kind == events.RUN_COMPLETED:
        return set()
    made = Token.objects.filter(agent=run.agent_id, owner__isnull=False, revoked_at=None)
    return {person for person in (run.through_id, *made.values_list("owner", flat=True)) if person is not None}


def _announce_questions(run: Run, event: Event, ref: RunRef, *, by: Actor) -> None:
    """Notify those who may answer, each with the questions that are for them."""
    open_ = RunQuestion.objects.filter(run=run, state=OPEN)
    first = list(open_.order_by("pk")[:_LISTED])
    groups = [
        (RunQuestion(run=run, people=people, roles=roles, kind=kind), number)
        for people, roles, kind, number in open_.values_list("people", "roles", "kind").annotate(Count("pk"))
    ]
    listed = tuple(QuestionRef(question.pk, question.path, question.kind) for question in first)
    ref = replace(ref, asked=sum(number for _, number in groups), questions=listed)
    event = replace(event, run=ref)
    members = members_of(run.project_id, set(), by, reviewers=True)
    barred = answerers.barred_people(run)
    counts, texts = _counts(members, groups, barred), _headlines(members, first, barred)
    concerned = [
        Recipient(member, replace(event, text=_summary(counts[member.user_id], texts.get(member.user_id))), waits=True)
        for member in members
        if member.user_id in counts
    ]
    run_notifications.notify(event, ref, run.project_id, concerned, who=by.name)


def _counts(
    members: Sequence[Membership], groups: Sequence[tuple[RunQuestion, int]], barred: set[int]
) -> dict[int, int]:
    """Return the number of questions for each member. Questions that ask the same people are counted together."""
    counts: dict[int, int] = {}
    for question, number in groups:
        for user in answerers.among(members, question, barred):
            counts[user] = counts.get(user, 0) + number
    return counts


def _headlines(members: Sequence[Membership], first: Sequence[RunQuestion], barred: set[int]) -> dict[int, str]:
    texts: dict[int, str] = {}
    for question in reversed(first):
        text = headline(question.kind, question.shown)
        texts.update(dict.fromkeys(answerers.among(members, question, barred), text))
    return texts


def _summary(count: int, text: str | None) -> str:
    if count == 1 and text:
        return excerpt(text)
    return excerpt(f"{count:,} questions. The first: {text}" if text else f"{count:,} questions")
