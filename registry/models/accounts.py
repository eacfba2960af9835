"""Users, projects, memberships, invitations and sign-in links."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from registry.core import roles

NOTHING, ERROR, WARNING = "none", "error", "warning"
BLOCKING_LEVELS = (NOTHING, ERROR, WARNING)


class User(AbstractUser):
    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.username

    @property
    def initials(self) -> str:
        words = self.display_name.replace("-", " ").replace(".", " ").split()
        return "".join(word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words)).upper()


class SignInLink(models.Model):
    """A link for one sign-in without a password. Only the hash of its secret is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_in_links")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)


class BrowserSession(models.Model):
    """A browser in which a person is signed in. They can list their sessions and end them."""

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
        """Return a person's projects with their role and the number of project skills."""
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
        """Return the archived projects that a person can restore."""
        return self.filter(memberships__user=user, memberships__role=roles.OWNER, archived_at__isnull=False).order_by(
            "-archived_at"
        )


class Project(models.Model):
    """A tenant. Every change that its agents could notice increments `revision` in the same transaction."""

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=300, blank=True)
    revision = models.PositiveBigIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True, blank=True)

    # Options for owners, all off by default.
    protected = models.BooleanField(default=False)  # every change needs a review
    public = models.BooleanField(default=False)  # anybody can find and read the skills
    makers_approve = models.BooleanField(default=False)  # reviewers can approve for agents whose token they made
    reviewer_agents = models.BooleanField(default=False)  # agents can recommend a decision, and a person makes it

    # Security findings of this severity or a higher one stop a version from being published.
    blocking = models.CharField(max_length=8, default=ERROR, choices=[(level, level) for level in BLOCKING_LEVELS])
    quarantines_alarms = models.BooleanField(default=False)  # the deep scan quarantines a version with an error

    objects = ProjectQuerySet.as_manager()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(blocking__in=BLOCKING_LEVELS), name="blocking_is_known")]

    def __str__(self) -> str:
        return self.name


class MembershipQuerySet(models.QuerySet["Membership"]):
    def for_list(self, project: Project) -> "MembershipQuerySet":
        """Return the members of a project, sorted by name."""
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
    """A link that makes one person a member. Only the hash of its secret is stored."""

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
