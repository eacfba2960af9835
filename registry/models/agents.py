"""Agents of a project, and the tokens that agents and people use."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from registry.core import roles
from registry.models.accounts import Membership, Project, User


class Agent(models.Model):
    """`uses_skills` are part of the agent's instructions. `allowed_skills` limits the skills it sees, unless None.

    `best_skills` limits the catalog in its instructions to the skills that fit its prompt best, unless None.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="agents")
    name = models.CharField(max_length=64)
    prompt = models.TextField(blank=True)
    instructions = models.TextField(blank=True)
    uses_skills = models.JSONField(default=list)
    allowed_skills = models.JSONField(null=True)
    best_skills = models.PositiveIntegerField(null=True)
    trust = models.CharField(max_length=16, default=roles.STANDARD)
    created_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(null=True)

    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_agent_per_name"),
            models.CheckConstraint(condition=Q(trust__in=roles.TRUST_LEVELS), name="agent_trust_is_known"),
        ]

    def __str__(self) -> str:
        return self.name


class TokenQuerySet(models.QuerySet["Token"]):
    def for_request(self) -> "TokenQuerySet":
        """Annotate everything that a request needs to know about its caller, in one row."""
        role = Membership.objects.filter(project=models.OuterRef("project"), user=models.OuterRef("user"))
        return self.annotate(
            project_slug=F("project__slug"),
            project_revision=F("project__revision"),
            project_archived_at=F("project__archived_at"),
            last_event=F("project__audit_chain__head"),
            agent_name=F("agent__name"),
            user_name=F("user__username"),
            user_active=F("user__is_active"),
            role=models.Subquery(role.values("role")[:1]),
        )


class Token(models.Model):
    """A bearer token of one agent or one person in one project. Only the hash of the secret is stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tokens")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, related_name="tokens")
    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="tokens")
    owner = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    digest = models.CharField(max_length=64, unique=True)
    start = models.CharField(max_length=16)
    scopes = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    objects = TokenQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(agent=None, user__isnull=False) | Q(agent__isnull=False, user=None),
                name="token_is_of_an_agent_or_a_person",
            )
        ]
