"""What people are still working on: drafts of skills, and uploads they have not confirmed. No agent sees either."""

from django.db import models
from django.utils import timezone

from registry.models.accounts import Project, User
from registry.models.manifest import ManifestField


class Draft(models.Model):
    """One person's unfinished edit of one skill; an empty name is a skill that does not exist yet.

    `content` is what the form holds, valid or not; `manifest` names the files beside SKILL.md. `base` is the digest
    of what the edit started from and `base_manifest` its files, kept so that a conflict can be shown three ways.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="drafts")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="drafts")
    name = models.CharField(max_length=128, blank=True)
    base = models.CharField(max_length=71, blank=True)
    base_manifest = ManifestField(default=tuple)
    content = models.JSONField(default=dict)
    manifest = ManifestField(default=tuple)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user", "name"], name="one_draft_per_person_and_skill")
        ]


class Upload(models.Model):
    """A bundle somebody is looking at before they decide. `key` is where its bytes wait; both go when they decide."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="uploads")
    key = models.CharField(max_length=64, unique=True)
    filename = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now)
