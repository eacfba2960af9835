"""Notifications in people's inboxes, their email preferences, and the emails to send."""

from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery
from django.utils import timezone

from registry.core.notifications import events
from registry.core.proposals.lifecycle import State
from registry.models.accounts import Project, User
from registry.models.outgoing import SENT, Outgoing
from registry.models.proposals import Proposal
from registry.models.workflows import OPEN, Run, RunApproval, RunQuestion

NOTHING, WAITING, EVERYTHING = "nothing", "waiting", "everything"
EMAIL_CHOICES = (NOTHING, WAITING, EVERYTHING)


class NotificationQuerySet(models.QuerySet["Notification"]):
    def of(self, user: User) -> "NotificationQuerySet":
        """Filter for the user's notifications from projects that they are still a member of."""
        return self.filter(user=user, project__in=Project.objects.visible_to(user).values("pk"))

    def unread(self) -> "NotificationQuerySet":
        return self.filter(read_at=None)

    def for_list(self) -> "NotificationQuerySet":
        of_run = RunQuestion.objects.filter(run=OuterRef("run"))
        approved = RunApproval.objects.filter(question=OuterRef("pk"), user=OuterRef(OuterRef("user")))
        asked = of_run.filter(~Exists(approved), state=OPEN)
        last = of_run.exclude(state=OPEN).order_by("-answered_at", "-pk").values("state")[:1]
        return (
            self.select_related("project", "proposal")
            .annotate(is_asked=Exists(asked), last_answer=Subquery(last))
            .order_by("-pk")
        )


class Notification(models.Model):
    """One event in the inbox of one user. `waits`: the proposal or run cannot proceed until this user acts."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notifications")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, null=True, related_name="+")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, related_name="+")
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

    objects = NotificationQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["user", "-id"], name="notifications_of_a_user"),
            models.Index(fields=["user"], condition=Q(read_at=None), name="notifications_unread"),
        ]

    @property
    def still_waits(self) -> bool:
        """Return whether it still waits for this user, because someone else may have acted since.

        Only for rows of `for_list`.
        """
        if self.run_id is not None:
            return self.waits and bool(self.is_asked)  # type: ignore[attr-defined]
        for_reviewers = events.waits_for_reviewers(self.event)
        state = self.proposal.state if self.proposal else ""
        return self.waits and (
            state == State.OPEN if for_reviewers else state in (State.CHANGES_REQUESTED, State.STALE)
        )

    @property
    def question_state(self) -> str:
        """Return the state of the questions that this notification is about, empty for another one.

        Only for rows of `for_list`.
        """
        if self.event != events.RUN_WAITING:
            return ""
        return OPEN if self.is_asked else self.last_answer or ""  # type: ignore[attr-defined]


class EmailPreference(models.Model):
    """The choice of notifications that a user gets by email. The default, without a row, is WAITING."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="email_preference")
    choice = models.CharField(max_length=10, default=WAITING, choices=[(choice, choice) for choice in EMAIL_CHOICES])

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(choice__in=EMAIL_CHOICES), name="email_preference_is_known")]


class NotificationEmail(Outgoing):
    """The email for one notification. Several to one person are sent as one email."""

    notification = models.OneToOneField(Notification, on_delete=models.CASCADE, related_name="email")

    class Meta(Outgoing.Meta):
        indexes = [
            *Outgoing.Meta.indexes,
            models.Index(fields=["finished_at"], condition=Q(state=SENT), name="%(class)s_sent"),
        ]


class EmailConfirmation(Outgoing):
    """A new email address of a user, and the email with the link that confirms it.

    The address becomes the user's address when they open the link.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="email_confirmation")
    address = models.EmailField(max_length=254)
    requested_at = models.DateTimeField(default=timezone.now)
