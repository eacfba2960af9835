"""Limits on the proposals and comments of one person or agent, because each of them takes the time of reviewers."""

from datetime import timedelta
from math import ceil

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from registry.core.errors import Conflict, RateLimited
from registry.models import Project, Proposal, ProposalComment, ProposalRevision
from registry.services.permissions import Actor

_HOUR = timedelta(hours=1)


def check_open(project: Project, *, by: Actor) -> None:
    """Refuse another proposal if too many of this proposer wait for a decision."""
    most = settings.OPEN_PROPOSALS_PER_AGENT if by.agent_id is not None else settings.OPEN_PROPOSALS_PER_PERSON
    number = Proposal.objects.undecided().filter(_own(by), project=project).count()
    if number >= most:
        raise Conflict(
            f"{by.name} has {number} proposals that wait for review. {most} are allowed. Withdraw one, or wait. "
            "Nothing was saved.",
            allowed=most,
        )


def check_hour(project: Project, *, by: Actor) -> None:
    """Refuse another proposal or revision if this proposer sent too many within an hour."""
    sent = ProposalRevision.objects.filter(_own(by), proposal__project=project)
    _check(sent, settings.PROPOSALS_PER_HOUR, f"{by.name} sent {{number}} proposals and revisions within an hour.")


def check_comments(project: Project, *, by: Actor) -> None:
    sent = ProposalComment.objects.filter(_own(by), proposal__project=project, action="")
    _check(sent, settings.PROPOSALS_PER_HOUR, f"{by.name} wrote {{number}} comments within an hour.")


def _own(by: Actor) -> Q:
    return Q(agent=by.agent_id) if by.agent_id is not None else Q(user=by.user_id)


def _check(rows: QuerySet[ProposalRevision] | QuerySet[ProposalComment], most: int, sentence: str) -> None:
    if not most:
        return
    now = timezone.now()
    times = list(
        rows.filter(created_at__gt=now - _HOUR).order_by("-created_at").values_list("created_at", flat=True)[:most]
    )
    if len(times) >= most:
        seconds = max(1, ceil((times[-1] + _HOUR - now).total_seconds()))
        minutes = ceil(seconds / 60)
        raise RateLimited(
            f"{sentence.format(number=most)} {most} are allowed. "
            f"Try again in {minutes} {'minute' if minutes == 1 else 'minutes'}. Nothing was saved.",
            retry_after=seconds,
            allowed=most,
        )
