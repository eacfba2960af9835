"""Skills of a project and their immutable versions."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.accounts import Project, User
from registry.models.agents import Agent
from registry.models.manifest import ManifestField
from registry.models.scans import Scan


class Skill(models.Model):
    """A project's skill under one name, or its switch for a built-in skill.

    `overrides` is true while the project has a skill under the name. A row without it keeps the history of a deleted
    skill, or switches a built-in skill off.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="skills")
    name = models.CharField(max_length=128)
    enabled = models.BooleanField(default=True)
    overrides = models.BooleanField(default=False)
    current = models.ForeignKey("Version", on_delete=models.PROTECT, null=True, related_name="+")
    last_number = models.PositiveIntegerField(default=0)

    # The built-in skill this one was customised from, with its files: the base of a later merge.
    upstream_digest = models.CharField(max_length=71, blank=True)
    upstream_version = models.CharField(max_length=128, blank=True)
    upstream_manifest = ManifestField(default=tuple)

    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_skill_per_name")]

    def __str__(self) -> str:
        return self.name

    @property
    def current_digest(self) -> str:
        """Return the digest of the current version, or an empty string."""
        return self.current.digest if self.current else ""


class VersionQuerySet(models.QuerySet["Version"]):
    def available(self) -> "VersionQuerySet":
        """Leave out versions that were withdrawn or deleted, or are in quarantine. No agent gets them."""
        return self.with_one_end(None)

    def with_one_end(self, deleted_at: datetime | None) -> "VersionQuerySet":
        """Keep versions that could take over from one another: they ended with one deletion, or did not end.

        Versions that were withdrawn or are in quarantine are left out.
        """
        return self.filter(yanked_at=None, quarantined_at=None, deleted_at=deleted_at)

    def newest_first(self) -> "VersionQuerySet":
        return self.order_by("-pk")

    def for_timeline(self) -> "VersionQuerySet":
        return self.newest_first().select_related(
            "author", "agent", "approval__by", "provenance__source", "quarantined_by", "scan"
        )


class Version(models.Model):
    """One immutable version of a skill. Its manifest lists the files, which are stored as blobs."""

    skill = models.ForeignKey(Skill, on_delete=models.CASCADE, related_name="versions")
    version = models.CharField(max_length=128)
    digest = models.CharField(max_length=71)
    manifest = ManifestField()
    size = models.PositiveBigIntegerField()

    description = models.TextField()
    kind = models.CharField(max_length=16)
    tags = models.JSONField(default=list)
    requires = models.JSONField(default=list)
    triggers = models.JSONField(default=list)
    tokens = models.PositiveIntegerField()

    note = models.CharField(max_length=300, blank=True)
    author = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    yanked_at = models.DateTimeField(null=True)
    yank_reason = models.CharField(max_length=300, blank=True)
    # The deletion of the skill that ended this version. Versions of one deletion have the same time.
    deleted_at = models.DateTimeField(null=True)

    scan = models.ForeignKey(Scan, on_delete=models.SET_NULL, null=True, related_name="versions")

    # A quarantine can be lifted. `quarantined_by` is None if the scan set it.
    quarantined_at = models.DateTimeField(null=True)
    quarantine_reason = models.CharField(max_length=300, blank=True)
    quarantined_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")

    objects = VersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["skill", "version"], name="a_version_stands_for_one_state"),
            models.CheckConstraint(condition=Q(digest__startswith="sha256:"), name="version_digest_is_sha256"),
        ]

    @property
    def available(self) -> bool:
        """True if the version was neither withdrawn nor deleted, and is not in quarantine."""
        return self.yanked_at is None and self.deleted_at is None and self.quarantined_at is None

    @property
    def by(self) -> str:
        if self.agent:
            return self.agent.name
        return self.author.display_name if self.author else "command line"
