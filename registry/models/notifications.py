"""What people are told: entries of their inbox, what of it they want by email, and the letters that are sent."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.core.notifications import events
from registry.core.proposals.lifecycle import State
from registry.models.accounts import Project, User
from registry.models.outgoing import Outgoing
from registry.models.proposals import Proposal

NOTHING, WAITING, EVERYTHING = "nothing", "waiting", "everything"
MAIL = (NOTHING, WAITING, EVERYTHING)


class NoticeQuerySet(models.QuerySet["Notice"]):
    def of(self, user: User) -> "NoticeQuerySet":
        """Those of projects that the person still belongs to."""
        mine = Project.objects.visible_to(user).values("pk")
        return self.filter(user=user, project__in=mine)

    def unread(self) -> "NoticeQuerySet":
        return self.filter(read_at=None)

    def for_list(self) -> "NoticeQuerySet":
        return self.select_related("project", "proposal").order_by("-pk")


class Notice(models.Model):
    """One thing one person is told. `waits`: nothing goes on until they do something."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notices")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, null=True, related_name="+")
    event = models.CharField(max_length=40)
    title = models.CharField(max_length=500)
    text = models.CharField(max_length=300, blank=True)
    skill = models.CharField(max_length=128)
    version = models.CharField(max_length=128, blank=True)
    actor = models.CharField(max_length=150)
    by_agent = models.BooleanField(default=False)
    waits = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    read_at = models.DateTimeField(null=True)

    objects = NoticeQuerySet.as_manager()

    @property
    def waits_still(self) -> bool:
        """Since then somebody else may have decided, or its proposer gone on."""
        for_reviewers = events.waits_for_reviewers(self.event)
        state = self.proposal.state if self.proposal else ""
        return self.waits and (
            state == State.OPEN if for_reviewers else state in (State.CHANGES_REQUESTED, State.STALE)
        )

    class Meta:
        indexes = [
            models.Index(fields=["user", "-id"], name="notices_of_a_person"),
            models.Index(fields=["user"], condition=Q(read_at=None), name="notices_unread"),
        ]


class Preference(models.Model):
    """What of the inbox a person wants by email as well. Without a row: what waits for them."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="notice_preference")
    mail = models.CharField(max_length=10, default=WAITING, choices=[(choice, choice) for choice in MAIL])

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(mail__in=MAIL), name="notice_preference_is_known")]


class Letter(Outgoing):
    """A notice on its way by email."""

    notice = models.OneToOneField(Notice, on_delete=models.CASCADE, related_name="letter")


class NewAddress(Outgoing):
    """Where a person wants their email, until they follow the link that is sent there. Then it is their address."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="new_address")
    address = models.EmailField(max_length=254)
    asked_at = models.DateTimeField(default=timezone.now)
