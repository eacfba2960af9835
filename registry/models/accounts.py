"""People, the projects they belong to, and how they get in the first time."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from registry.core import roles


class User(AbstractUser):
    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.username

    @property
    def initials(self) -> str:
        words = self.display_name.replace("-", " ").replace(".", " ").split()
        return "".join(word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words)).upper()


class SignInLink(models.Model):
    """One sign-in without a password. Only the hash of its secret is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_in_links")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)


class BrowserSession(models.Model):
    """Where a person is signed in, so that they can see it and end it."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="browser_sessions")
    session_key = models.CharField(max_length=40, unique=True)
    browser = models.CharField(max_length=200, blank=True)
    address = models.CharField(max_length=45, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: User) -> "ProjectQuerySet":
        return self.filter(memberships__user=user, archived_at=None)

    def for_list(self, user: User) -> "ProjectQuerySet":
        """The projects of one person with their role and how many skills are the project's own."""
        return (
            self.visible_to(user)
            .annotate(
                role=F("memberships__role"),
                own_skills=models.Subquery(
                    self.model.objects.filter(pk=models.OuterRef("pk"))
                    .annotate(own=models.Count("skills", filter=Q(skills__overrides=True)))
                    .values("own")
                ),
            )
            .order_by("name")
        )

    def archived_of(self, user: User) -> "ProjectQuerySet":
        """What a person may bring back."""
        return self.filter(memberships__user=user, memberships__role=roles.OWNER, archived_at__isnull=False).order_by(
            "-archived_at"
        )


class Project(models.Model):
    """A tenant. `revision` moves in the same transaction as anything an agent of the project could notice."""

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=300, blank=True)
    revision = models.PositiveBigIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True, blank=True)

    # Owners' choices, all off until somebody makes them.
    protected = models.BooleanField(default=False)  # every change goes through review
    public = models.BooleanField(default=False)  # anybody may discover and read the served skills
    reviewer_agents = models.BooleanField(default=False)  # agents may recommend a decision, which a person confirms

    objects = ProjectQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


class MembershipQuerySet(models.QuerySet["Membership"]):
    def for_list(self, project: Project) -> "MembershipQuerySet":
        """The members of one project by name."""
        return (
            self.filter(project=project)
            .select_related("user")
            .order_by("user__first_name", "user__last_name", "user__username")
        )


class Membership(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=[(role, role) for role in roles.ROLES])
    created_at = models.DateTimeField(default=timezone.now)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="one_membership_per_person"),
            models.CheckConstraint(condition=Q(role__in=roles.ROLES), name="membership_role_is_known"),
        ]


class Invitation(models.Model):
    """A link that makes whoever opens it a member, once. Only the hash of its secret is kept."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=16, choices=[(role, role) for role in roles.ROLES])
    note = models.CharField(max_length=100, blank=True)
    digest = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    used_by = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="+")
    withdrawn_at = models.DateTimeField(null=True)
