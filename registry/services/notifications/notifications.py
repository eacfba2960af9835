"""Notifications: create them with the change they are about, and list and read the inbox.

`notify` and `notify_about_version` run inside the transaction of the change. Reading the inbox is not a change of a
project, so it writes no audit event.
"""

from dataclasses import dataclass, field

from django.utils import timezone

from registry.core.errors import NotFound
from registry.core.notifications import events
from registry.core.notifications.events import BACKERS, COMMENTERS, REVIEWERS, TYPES, Event, ProposalRef, VersionRef
from registry.models import Backer, Membership, Notification, Proposal, ProposalComment, User, Version
from registry.models.notifications import NotificationQuerySet
from registry.services.notifications.recipients import REVIEWING, Recipient, display_name, excerpt, members_of, send
from registry.services.permissions import Actor


@dataclass(frozen=True, slots=True)
class _People:
    """The users concerned by one proposal. It does not wait for `barred`, who may not approve it."""

    backers: set[int] = field(default_factory=set)
    commenters: set[int] = field(default_factory=set)
    barred: set[int] = field(default_factory=set)


def notify(event_type: str, *proposals: Proposal, text: str = "", by: Actor) -> None:
    """Notify people and webhooks about proposals of one project. The actor is not notified."""
    if not proposals:
        return
    created = {proposal.pk: _proposal_event(event_type, proposal, text, by) for proposal in proposals}
    people = _people(event_type, list(created))
    involved = {user for each in people.values() for user in each.backers | each.commenters}
    project_id = proposals[0].project_id
    members = members_of(project_id, involved, by, reviewers=REVIEWERS in TYPES[event_type].audience)
    recipients = [
        Recipient(member, created[proposal.pk], _waits(event_type, member, proposal, people[proposal.pk]))
        for proposal in proposals
        for member in members
        if member.user_id != by.user_id and _concerns(event_type, member, people[proposal.pk])
    ]
    send(project_id, list(created.values()), recipients, who=display_name(by, members))


def notify_about_version(event_type: str, version: Version, *, person: int | None, text: str = "", by: Actor) -> None:
    """Notify webhooks, the user whose work is affected, and the reviewers if the event concerns them."""
    reviewers = REVIEWERS in TYPES[event_type].audience
    ref = VersionRef(version.version, version.digest)
    event = Event(event_type, version.skill.name, by.kind, by.name, excerpt(text), version=ref)
    members = members_of(version.skill.project_id, {person} if person is not None else set(), by, reviewers=reviewers)
    recipients = [
        Recipient(member, event, waits=reviews and events.waits_for_reviewers(event_type))
        for member in members
        if (reviews := reviewers and member.role in REVIEWING) or member.user_id == person
        if member.user_id != by.user_id
    ]
    send(version.skill.project_id, [event], recipients, who=display_name(by, members))


def _proposal_event(event_type: str, proposal: Proposal, text: str, by: Actor) -> Event:
    ref = ProposalRef(
        proposal.pk, proposal.kind, str(proposal.state), proposal.revision, proposal.base_digest, proposal.result_digest
    )
    return Event(event_type, proposal.skill, by.kind, by.name, excerpt(text), proposal=ref)


def _people(event_type: str, proposal_ids: list[int]) -> dict[int, _People]:
    backers = Backer.objects.filter(proposal__in=proposal_ids)
    barred = backers.barred_people()
    people = {proposal_id: _People(barred=barred.get(proposal_id, set())) for proposal_id in proposal_ids}
    for proposal_id, user in backers.filter(user__isnull=False).values_list("proposal", "user"):
        people[proposal_id].backers.add(user)
    if COMMENTERS in TYPES[event_type].audience:
        comments = ProposalComment.objects.filter(proposal__in=proposal_ids, user__isnull=False)
        for proposal_id, user in comments.values_list("proposal", "user").distinct():
            people[proposal_id].commenters.add(user)
    return people


def _concerns(event_type: str, member: Membership, people: _People) -> bool:
    """Return whether to notify the member. A commenter who no longer reviews cannot see the proposal any more."""
    audience, reviews = TYPES[event_type].audience, member.role in REVIEWING
    return (
        (REVIEWERS in audience and reviews)
        or (BACKERS in audience and member.user_id in people.backers)
        or (COMMENTERS in audience and reviews and member.user_id in people.commenters)
    )


def _waits(event_type: str, member: Membership, proposal: Proposal, people: _People) -> bool:
    if events.waits_for_reviewers(event_type):
        return member.role in REVIEWING and member.user_id not in people.barred
    return events.waits_for_proposer(event_type) and member.user_id == proposal.user_id


def inbox(user: User, *, unread: bool) -> NotificationQuerySet:
    """Return the notifications of a user, newest first."""
    every = Notification.objects.of(user)
    return (every.unread() if unread else every).for_list()


def unread(user: User) -> int:
    return Notification.objects.of(user).unread().count()


def open_notification(user: User, notification_id: int) -> Notification:
    """Mark the notification as read, with all others about the same proposal or run."""
    notification = Notification.objects.of(user).select_related("project").filter(pk=notification_id).first()
    if notification is None:
        raise NotFound("This notification is not in your inbox.")
    if notification.proposal_id is not None:
        mark_proposal_read(user, notification.proposal_id)
    elif notification.run_id is not None:
        mark_run_read(user, notification.run_id)
    else:
        Notification.objects.filter(pk=notification.pk, read_at=None).update(read_at=timezone.now())
    return notification


def mark_proposal_read(user: User, proposal_id: int) -> None:
    """Mark all notifications about a proposal as read. Write nothing if all are read already."""
    _mark_read(Notification.objects.filter(user=user, proposal=proposal_id))


def mark_run_read(user: User, run_id: int) -> None:
    """Mark all notifications about a run as read. Write nothing if all are read already."""
    _mark_read(Notification.objects.filter(user=user, run=run_id))


def _mark_read(about: NotificationQuerySet) -> None:
    rows = about.unread()
    if rows.exists():
        rows.update(read_at=timezone.now())


def mark_all_read(user: User) -> int:
    return Notification.objects.filter(user=user, read_at=None).update(read_at=timezone.now())
