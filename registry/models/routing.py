"""Golden cases, evaluations, routing settings, and the log of routed questions."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.core.routing.gate import Limits
from registry.core.routing.golden import CATEGORIES, NOTE_CHARS
from registry.models.accounts import Project
from registry.models.agents import Agent

_LIMITS = Limits()


class GoldenCase(models.Model):
    """A question with the skills that should be found for it. No expected skill means that none should be found.

    `query_digest` is the SHA-256 of the normalised query, because a query is too long for a unique index.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="golden_cases")
    query = models.TextField()
    query_digest = models.CharField(max_length=64)
    expected = models.JSONField(default=list)
    acceptable = models.JSONField(default=list)
    category = models.CharField(max_length=9, choices=[(category, category) for category in CATEGORIES])
    note = models.CharField(max_length=NOTE_CHARS, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "query_digest"], name="one_golden_case_per_query"),
            models.CheckConstraint(condition=Q(category__in=CATEGORIES), name="golden_category_is_known"),
        ]


class Evaluation(models.Model):
    """One run of a project's golden set. `passed` is None if no case could be judged.

    `outcomes` has one entry for each case, the stale ones last, and `per_skill` has one for each skill. Both are empty
    in an old row.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="evaluations")
    at = models.DateTimeField(default=timezone.now)
    by = models.CharField(max_length=150)
    cases = models.PositiveIntegerField()
    p_at_1 = models.FloatField(null=True)
    mrr = models.FloatField(null=True)
    recall_at_5 = models.FloatField(null=True)
    false_triggers = models.FloatField(null=True)
    threshold = models.FloatField()
    passed = models.BooleanField(null=True)
    reasons = models.JSONField(default=list)
    outcomes = models.JSONField(default=list)
    per_skill = models.JSONField(default=list)
    revision = models.PositiveBigIntegerField()
    fingerprint = models.CharField(max_length=64)  # of the built-in skills

    class Meta:
        indexes = [models.Index(fields=["project", "-at"], name="evaluations_by_time")]


class RoutingSettings(models.Model):
    """A project's settings for routing. A project without a row uses the defaults.

    `fixed_threshold` is set by an owner, `learned_threshold` by the last evaluation. `calibration` holds the numbers
    that an evaluation learned for the confidence. The limits of the gate follow.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="routing")
    fixed_threshold = models.FloatField(null=True)
    learned_threshold = models.FloatField(null=True)
    calibration = models.JSONField(default=list)
    baseline = models.ForeignKey(Evaluation, on_delete=models.SET_NULL, null=True, related_name="+")

    least_p_at_1 = models.FloatField(default=_LIMITS.least_p_at_1)
    least_mrr = models.FloatField(default=_LIMITS.least_mrr)
    most_false_triggers = models.FloatField(default=_LIMITS.most_false_triggers)
    least_cases = models.PositiveIntegerField(default=_LIMITS.least_cases)
    blocking = models.BooleanField(default=False)  # a change that fails the gate is not published

    log_share = models.FloatField(default=1.0)  # of the questions that are logged
    log_days = models.PositiveIntegerField(default=0)  # 0 switches the log off

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(fixed_threshold=None) | Q(fixed_threshold__gte=0, fixed_threshold__lte=1),
                name="fixed_threshold_is_a_probability",
            ),
            models.CheckConstraint(condition=Q(log_share__gte=0, log_share__lte=1), name="log_share_is_a_share"),
        ]


class RouteLog(models.Model):
    """A question that was routed, with secrets removed. Only people who write skills can read it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="route_log")
    at = models.DateTimeField(default=timezone.now)
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True, related_name="+")
    caller = models.CharField(max_length=150)
    query = models.TextField()
    matches = models.JSONField(default=list)  # rows of name and confidence, the best first
    found = models.BooleanField()  # False if the answer was "none of these"
    threshold = models.FloatField()

    class Meta:
        indexes = [models.Index(fields=["project", "-at"], name="route_log_by_time")]
