"""Security scans of bundles, and suppressed findings."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.core.scan.report import ScanStatus
from registry.models.accounts import Project, User
from registry.models.leases import Leased, is_free

STATUSES = tuple(map(str, ScanStatus))
_DIGEST = 71


def is_due(now: datetime, scanner: str) -> Q:
    """Match scans whose deep pass was not run by this scanner, and that no worker holds."""
    return Q(stored=True, project__archived_at=None) & ~Q(deep_scanner=scanner) & is_free(now)


class Scan(Leased):
    """The security scan of one bundle in one project. Equal bytes have one scan.

    The fast pass runs with the request that brings the bundle. The worker runs the deep pass of a bundle whose files
    are `stored`, and again for each new version of the scanner. `attempts` counts the leases of the current deep pass.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="scans")
    digest = models.CharField(max_length=_DIGEST)
    skill = models.CharField(max_length=128)
    stored = models.BooleanField(default=False)

    status = models.CharField(max_length=8, choices=[(status, status) for status in STATUSES])
    findings = models.JSONField(default=list)
    unread = models.JSONField(default=list)  # paths that were not or not completely scanned
    errors = models.PositiveIntegerField(default=0)
    warnings = models.PositiveIntegerField(default=0)
    scanner = models.CharField(max_length=100)
    scanned_at = models.DateTimeField(default=timezone.now)
    deep_scanner = models.CharField(max_length=100, blank=True)  # of the last deep pass, empty before the first

    # The last attempt to publish the bundle that its findings blocked.
    refused_at = models.DateTimeField(null=True)
    refused_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "digest"], name="one_scan_per_bundle"),
            models.CheckConstraint(condition=Q(status__in=STATUSES), name="scan_status_is_known"),
        ]
        indexes = [models.Index(fields=["deep_scanner"], condition=Q(stored=True), name="scans_by_deep_scanner")]


class SuppressionQuerySet(models.QuerySet["Suppression"]):
    def active(self, now: datetime) -> "SuppressionQuerySet":
        return self.filter(ended_at=None, expires_at__gt=now)

    def for_list(self) -> "SuppressionQuerySet":
        return self.select_related("by", "ended_by").order_by("-pk")


class Suppression(models.Model):
    """A finding that a reviewer accepts in exactly these bytes, until it expires. `line` is 0 for the whole file."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="suppressions")
    digest = models.CharField(max_length=_DIGEST)
    skill = models.CharField(max_length=128)
    rule = models.CharField(max_length=100)
    file = models.CharField(max_length=1000)
    line = models.PositiveIntegerField(default=0)
    reason = models.CharField(max_length=300)
    by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")

    objects = SuppressionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "digest", "rule", "file", "line"],
                condition=Q(ended_at=None),
                name="a_finding_is_suppressed_once",
            )
        ]

    @property
    def made_by(self) -> str:
        return self.by.display_name if self.by else "command line"
