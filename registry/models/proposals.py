"""Proposals with their revisions, backers, comments and recommendations, and approvals."""

from collections.abc import Collection
from functools import reduce
from operator import or_

from django.db import models
from django.db.models import Case, F, Q, When
from django.utils import timezone

from registry.core.proposals.lifecycle import UNDECIDED, State
from registry.core.proposals.risk import Risk
from registry.models.accounts import Project, User
from registry.models.agents import Agent
from registry.models.manifest import ManifestField
from registry.models.skills import Version

_DIGEST = 71


class ProposalQuerySet(models.QuerySet["Proposal"]):
    def undecided(self) -> "ProposalQuerySet":
        return self.filter(state__in=UNDECIDED)

    def backed_by(self, *, user_id: int | None, agent_id: int | None) -> "ProposalQuerySet":
        """Filter for proposals that a person or an agent made or joined."""
        who = Q(user=user_id) if user_id is not None else Q(agent=agent_id or 0)
        return self.filter(pk__in=Backer.objects.filter(who).values("proposal"))

    def for_list(self) -> "ProposalQuerySet":
        return self.select_related("user", "agent", "decided_by", "approval__version").order_by("-pk")


class Proposal(models.Model):
    """A proposed change to one skill. The columns repeat values of the newest revision.

    `base_digest` is empty for a new skill, `result_digest` for a deletion. `tokens` is what a load costs more.
    `risk` and `tokens` describe the last revision that the proposer sent.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="proposals")
    skill = models.CharField(max_length=128)
    kind = models.CharField(max_length=8, choices=[(kind, kind) for kind in ("create", "update", "delete")])
    state = models.CharField(max_length=20, default=State.OPEN.value)
    state_reason = models.TextField(blank=True)
    base_digest = models.CharField(max_length=_DIGEST, blank=True)
    result_digest = models.CharField(max_length=_DIGEST, blank=True)
    revision = models.PositiveIntegerField(default=1)
    risk = models.CharField(max_length=8, choices=[(risk.value, risk.value) for risk in Risk])
    tokens = models.IntegerField()
    run = models.CharField(max_length=200, blank=True)

    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    # The last decision of a reviewer. A new revision clears it; the comments keep it.
    decision = models.CharField(max_length=20, blank=True)
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    decision_comment = models.TextField(blank=True)

    objects = ProposalQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in State]), name="proposal_state_is_known"
            ),
            models.CheckConstraint(
                condition=Q(agent=None, user__isnull=False) | Q(agent__isnull=False, user=None),
                name="proposal_is_of_an_agent_or_a_person",
            ),
            models.UniqueConstraint(
                fields=["project", "skill", "kind", "base_digest", "result_digest"],
                condition=Q(state__in=[state.value for state in UNDECIDED]),
                name="equal_proposals_are_one",
            ),
        ]
        indexes = [models.Index(fields=["project", "state"], name="proposals_by_state")]

    @property
    def proposer(self) -> str:
        if self.agent:
            return self.agent.name
        return self.user.display_name if self.user else ""


class ProposalRevision(models.Model):
    """One revision: the complete skill before and after, as manifests of stored files."""

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    how = models.CharField(max_length=12)  # proposed, revised, rebased, or edited by the reviewer who approved it
    kind = models.CharField(max_length=8)
    base_digest = models.CharField(max_length=_DIGEST, blank=True)
    base_manifest = ManifestField(default=tuple)
    result_digest = models.CharField(max_length=_DIGEST, blank=True)
    result_manifest = ManifestField(default=tuple)
    justification = models.TextField()
    evidence = models.JSONField(default=list)
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["proposal", "number"], name="one_proposal_revision_per_number")]

    @property
    def by(self) -> str:
        if self.agent:
            return self.agent.name
        return self.user.display_name if self.user else ""


# The people who may not approve a proposal: its backers, and everyone who can act in the name of a backer because they
# made a token for them. The token need not have sent the proposal, because it can revise one as well.
# A project can allow it for agents.
_AGENT_OF_MAKER = Q(agent__isnull=False, proposal__project__makers_approve=True)
_BARRED = {
    "backer": F("user"),
    "sender": Case(When(~_AGENT_OF_MAKER, then=F("through"))),
    "maker_for_agent": Case(When(~_AGENT_OF_MAKER, then=F("agent__tokens__owner"))),
    "maker_for_person": Case(When(user__tokens__project=F("proposal__project"), then=F("user__tokens__owner"))),
}


class BackerQuerySet(models.QuerySet["Backer"]):
    def barring(self, people: Collection[int]) -> "BackerQuerySet":
        """Filter for the backers because of whom one of these people may not approve the proposal."""
        is_barred = reduce(or_, (Q(**{f"{name}__in": people}) for name in _BARRED))
        return self.alias(**_BARRED).filter(is_barred)

    def of_own_agents(self, people: Collection[int]) -> "BackerQuerySet":
        """Filter for the agents for which one of these people made a token."""
        made = Q(through__in=people) | Q(agent__tokens__owner__in=people)
        return self.filter(made, agent__isnull=False)

    def barred_people(self) -> dict[int, set[int]]:
        """Return the users who may not approve, by proposal."""
        result: dict[int, set[int]] = {}
        for proposal, *people in self.annotate(**_BARRED).values_list("proposal", *_BARRED):
            result.setdefault(proposal, set()).update(person for person in people if person is not None)
        return result


class Backer(models.Model):
    """A person or agent who suggested this change: the proposer, and everyone who sent the same while it was open.

    `through` is the user who made the token that the proposal was sent with.
    """

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="backers")
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, null=True, related_name="+")
    through = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    justification = models.TextField()
    evidence = models.JSONField(default=list)
    run = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = BackerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["proposal", "user"], condition=Q(user__isnull=False), name="a_person_backs_once"
            ),
            models.UniqueConstraint(
                fields=["proposal", "agent"], condition=Q(agent__isnull=False), name="an_agent_backs_once"
            ),
        ]


class ProposalComment(models.Model):
    """One comment. `action` is set if it belongs to a decision or a recommendation."""

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="comments")
    revision = models.PositiveIntegerField()
    action = models.CharField(max_length=20, blank=True)
    text = models.TextField(blank=True)
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    @property
    def by(self) -> str:
        if self.agent:
            return self.agent.name
        return self.user.display_name if self.user else ""


class Recommendation(models.Model):
    """The recommendation of an agent about one revision. It does not decide anything."""

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="recommendations")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+")
    revision = models.PositiveIntegerField()
    verdict = models.CharField(max_length=8, choices=[(verdict, verdict) for verdict in ("approve", "reject")])
    reason = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["proposal", "agent", "revision"], name="an_agent_recommends_once_for_a_revision"
            )
        ]


class Approval(models.Model):
    """Proof that a person approved exactly these bytes. It is stored in the transaction of the version."""

    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, related_name="approval")
    version = models.OneToOneField(Version, on_delete=models.PROTECT, null=True, related_name="approval")
    digest = models.CharField(max_length=_DIGEST, blank=True)
    proposed_digest = models.CharField(max_length=_DIGEST, blank=True)
    base_digest = models.CharField(max_length=_DIGEST, blank=True)
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    own_agent = models.BooleanField(default=False)  # `by` made a token of the agent, and the project allows it

    @property
    def edited(self) -> bool:
        return self.digest != self.proposed_digest
