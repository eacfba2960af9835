"""Numbers of loads by skill, version, caller and day."""

from django.db import models

from registry.models.accounts import Project


class Usage(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="usage")
    skill = models.CharField(max_length=128)
    version = models.CharField(max_length=128)
    caller = models.CharField(max_length=150)
    day = models.DateField()
    loads = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "skill", "version", "caller", "day"], name="one_usage_row_per_day"
            )
        ]
        indexes = [
            models.Index(fields=["project", "day"], name="usage_by_day"),
            models.Index(fields=["project", "skill", "day"], name="usage_of_skill"),
            models.Index(fields=["project", "caller", "day", "loads"], name="usage_of_caller"),
        ]
