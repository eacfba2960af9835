"""Drafts of skills and unconfirmed uploads, which only their author sees."""

from django.db import models
from django.utils import timezone

from registry.models.accounts import Project, User
from registry.models.manifest import ManifestField


class Draft(models.Model):
    """One person's unpublished edit of a skill; an empty name is a new skill.

    `content` is the input of the form, valid or not; `manifest` lists the files beside SKILL.md. `base` is the digest
    of the skill the edit started from and `base_manifest` its files, for a three-way merge.
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
    """A bundle that a person previews before publishing it. Its bytes are stored as a blob under `key`."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="uploads")
    key = models.CharField(max_length=64, unique=True)
    filename = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now)
