"""What people are told. A verb says what happened inside its own change; people and webhooks get their rows with it.

What a person reads in their inbox is their own: it is no change of a project.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Q
from django.utils import timezone

from registry.core import roles
from registry.core.catalog import prompt
from registry.core.errors import NotFound
from registry.core.notifications import events
from registry.core.notifications.events import BACKERS, KINDS, REVIEWERS, TALKERS, News, Published, Suggested
from registry.models import (
    Backer,
    Letter,
    Membership,
    Notice,
    Preference,
    Proposal,
    ProposalComment,
    User,
    Version,
)
from registry.models.notifications import WAITING, NoticeQuerySet
from registry.services.notifications import email, webhook_delivery, worker
from registry.services.permissions import Actor

TITLE_CHARS, TEXT_CHARS, ACTOR_CHARS = 500, 300, 150
_REVIEWING = [role for role, scopes in roles.SCOPES_OF_ROLE.items() if roles.REVIEW in scopes]


@dataclass(frozen=True, slots=True)
class _Circle:
    """The users concerned by one proposal. It does not wait for `barred`, who may not approve it."""

    backers: set[int] = field(default_factory=set)
    talkers: set[int] = field(default_factory=set)
    barred: set[int] = field(default_factory=set)


def about(event: str, *proposals: Proposal, text: str = "", by: Actor) -> None:
    """Inside a change: what happened to proposals of one project, by whom. Never tells whoever did it."""
    if not proposals:
        return
    news = {proposal.pk: _news(event, proposal, text, by) for proposal in proposals}
    circles = _circles(event, list(news))
    close = {person for circle in circles.values() for person in circle.backers | circle.talkers}
    project_id = proposals[0].project_id
    members = _members(project_id, close, by, reviewers=REVIEWERS in KINDS[event].told)
    told = [
        (member, news[proposal.pk], _waits(event, member, proposal, circles[proposal.pk]))
        for proposal in proposals
        for member in members
        if member.user_id != by.user_id and _concerns(event, member, circles[proposal.pk])
    ]
    _tell(project_id, list(news.values()), told, who=_called(by, members))


def about_version(event: str, version: Version, *, person: int | None, text: str = "", by: Actor) -> None:
    """Inside a change: what happened to a version. `person` is the one whose work it touches."""
    published = Published(version.version, version.digest)
    news = News(event, version.skill.name, by.kind, by.name, _excerpt(text), version=published)
    members = _members(version.skill.project_id, {person} if person is not None else set(), by, reviewers=False)
    told = [(member, news, False) for member in members if member.user_id == person != by.user_id]
    _tell(version.skill.project_id, [news], told, who=_called(by, members))


def _news(event: str, proposal: Proposal, text: str, by: Actor) -> News:
    suggested = Suggested(
        proposal.pk, proposal.kind, str(proposal.state), proposal.revision, proposal.base_digest, proposal.result_digest
    )
    return News(event, proposal.skill, by.kind, by.name, _excerpt(text), proposal=suggested)


def _excerpt(text: str) -> str:
    return prompt.shorten(prompt.one_line(text), TEXT_CHARS)


def _circles(event: str, proposal_ids: list[int]) -> dict[int, _Circle]:
    backers = Backer.objects.filter(proposal__in=proposal_ids)
    barred = backers.barred_people()
    circles = {proposal_id: _Circle(barred=barred.get(proposal_id, set())) for proposal_id in proposal_ids}
    for proposal_id, user in backers.filter(user__isnull=False).values_list("proposal", "user"):
        circles[proposal_id].backers.add(user)
    if TALKERS in KINDS[event].told:
        comments = ProposalComment.objects.filter(proposal__in=proposal_ids, user__isnull=False)
        for proposal_id, user in comments.values_list("proposal", "user").distinct():
            circles[proposal_id].talkers.add(user)
    return circles


def _members(project_id: int, people: set[int], by: Actor, *, reviewers: bool) -> list[Membership]:
    """Those of the people who belong to the project, reviewers where they are told, and the actor for their name."""
    wanted = Q(user__in={*people, by.user_id} - {None})
    if reviewers:
        wanted |= Q(role__in=_REVIEWING)
    found = Membership.objects.filter(wanted, project=project_id, user__is_active=True)
    return list(found.select_related("user__notice_preference", "project").order_by("user"))


def _called(by: Actor, members: Iterable[Membership]) -> str:
    return next((member.user.display_name for member in members if member.user_id == by.user_id), by.name)


def _concerns(event: str, member: Membership, circle: _Circle) -> bool:
    """Who talked along but may not review any more does not see the proposal, and is not told."""
    told, reviews = KINDS[event].told, member.role in _REVIEWING
    return (
        (REVIEWERS in told and reviews)
        or (BACKERS in told and member.user_id in circle.backers)
        or (TALKERS in told and reviews and member.user_id in circle.talkers)
    )


def _waits(event: str, member: Membership, proposal: Proposal, circle: _Circle) -> bool:
    if events.waits_for_reviewers(event):
        return member.role in _REVIEWING and member.user_id not in circle.barred
    return events.waits_for_proposer(event) and member.user_id == proposal.user_id


def _tell(project_id: int, news: list[News], told: list[tuple[Membership, News, bool]], *, who: str) -> None:
    endpoints = webhook_delivery.endpoints_for(project_id)
    rows = Notice.objects.bulk_create([_notice(member, one, waits, who) for member, one, waits in told])
    wanted = [Letter(notice=row) for row, (member, *_) in zip(rows, told, strict=True) if _by_mail(member, row)]
    Letter.objects.bulk_create(wanted)
    if webhook_delivery.queue(endpoints, news, who=who) or wanted:
        worker.wake()


def _notice(member: Membership, news: News, waits: bool, who: str) -> Notice:
    return Notice(
        user=member.user,
        project=member.project,
        proposal_id=news.proposal.id if news.proposal else None,
        event=news.event,
        title=prompt.shorten(news.sentence(who), TITLE_CHARS),
        text=news.text,
        skill=news.skill,
        version=news.version.version if news.version else "",
        actor=prompt.shorten(who, ACTOR_CHARS),
        by_agent=news.actor_kind == "agent",
        waits=waits,
    )


def _by_mail(member: Membership, notice: Notice) -> bool:
    chosen: Preference | None = getattr(member.user, "notice_preference", None)
    return bool(member.user.email) and email.is_wanted(chosen.mail if chosen else WAITING, waits=notice.waits)


def inbox(user: User, *, unread: bool) -> NoticeQuerySet:
    """What a person was told, newest first."""
    mine = Notice.objects.of(user)
    return (mine.unread() if unread else mine).for_list()


def unread(user: User) -> int:
    return Notice.objects.of(user).unread().count()


def open_one(user: User, notice_id: int) -> Notice:
    """Marks it as read, with all else that is about the same proposal."""
    found = Notice.objects.of(user).select_related("project").filter(pk=notice_id).first()
    if found is None:
        raise NotFound("There is no such entry in your inbox.")
    if found.proposal_id is not None:
        saw(user, found.proposal_id)
    else:
        Notice.objects.filter(pk=found.pk, read_at=None).update(read_at=timezone.now())
    return found


def saw(user: User, proposal_id: int) -> None:
    """Whoever looks at a proposal has read what they were told about it. Looking twice writes nothing."""
    told = Notice.objects.filter(user=user, proposal=proposal_id, read_at=None)
    if told.exists():
        told.update(read_at=timezone.now())


def mark_all_read(user: User) -> int:
    return Notice.objects.filter(user=user, read_at=None).update(read_at=timezone.now())
