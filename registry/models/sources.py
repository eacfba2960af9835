"""Sources of a project: their entries, installed skills, provenance and jobs."""

from datetime import datetime

from django.db import models
from django.db.models import Count, F, Q
from django.utils import timezone

from registry.models.accounts import Project, User
from registry.models.agents import Agent
from registry.models.leases import Leased, is_free
from registry.models.manifest import ManifestField
from registry.models.proposals import Proposal
from registry.models.skills import Skill, Version

URL, WELL_KNOWN, CLAWHUB, GIT = "url", "well-known", "clawhub", "git"
KINDS = (URL, WELL_KNOWN, CLAWHUB, GIT)

# Result of the last check. `unreachable` is temporary, `empty` means that the source has no skills, `unusable` that the
# address is not a source of this kind or is not allowed.
NEW, READY, EMPTY, UNREACHABLE, UNUSABLE = "new", "ready", "empty", "unreachable", "unusable"
STATES = (NEW, READY, EMPTY, UNREACHABLE, UNUSABLE)

LOOK, IMPORT, UPDATE = "look", "import", "update"
JOBS = (LOOK, IMPORT, UPDATE)
QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"
JOB_STATES = (QUEUED, RUNNING, DONE, FAILED)

WAITING = "waiting"  # status of an item that is not processed yet

_DIGEST = 71
_SAID = 200  # length of a version, digest or ref of a source


class SourceQuerySet(models.QuerySet["Source"]):
    def of(self, project: Project) -> "SourceQuerySet":
        return self.filter(project=project, removed_at=None)

    def for_list(self) -> "SourceQuerySet":
        """Order by name, with the number of skills (`offered`) and of installed skills (`installed`)."""
        return self.annotate(
            offered=Count("entries", distinct=True),
            installed=Count("installations", filter=Q(installations__skill__overrides=True), distinct=True),
        ).order_by("label", "address", "pk")


class Source(models.Model):
    """A place to import skills from. Its address never changes.

    A removed source stays as a row for the provenance of its skills, and is restored if the address is added again.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sources")
    kind = models.CharField(max_length=16, choices=[(kind, kind) for kind in KINDS])
    address = models.CharField(max_length=500)
    ref = models.CharField(max_length=_SAID, blank=True)
    label = models.CharField(max_length=100, blank=True)
    added_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    added_at = models.DateTimeField(default=timezone.now)
    removed_at = models.DateTimeField(null=True)

    # The last check. `seen_at` is when the source was last reached, `checked_at` when it was last tried.
    state = models.CharField(max_length=16, default=NEW, choices=[(state, state) for state in STATES])
    problem = models.CharField(max_length=500, blank=True)
    problems = models.JSONField(default=list)  # one sentence for each skill that cannot be used
    pin = models.CharField(max_length=_SAID, blank=True)
    checked_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)

    objects = SourceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "kind", "address", "ref"], name="one_source_per_address"),
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="source_kind_is_known"),
            models.CheckConstraint(condition=Q(state__in=STATES), name="source_state_is_known"),
        ]

    def __str__(self) -> str:
        return self.label or self.shown

    @property
    def shown(self) -> str:
        """Return the address without its query, which may contain a secret."""
        return self.address.partition("?")[0]


class SourceEntryQuerySet(models.QuerySet["SourceEntry"]):
    def matching(self, text: str) -> "SourceEntryQuerySet":
        """Filter by words: each must occur in the name or the description."""
        rows = self
        for word in text.split()[:10]:
            rows = rows.filter(Q(name__icontains=word) | Q(description__icontains=word))
        return rows

    def for_list(self) -> "SourceEntryQuerySet":
        return self.order_by("name")


class SourceEntry(models.Model):
    """One skill of a source at the last check. `version` and `digest` are those of the source.

    After a preview, `staged_digest` and `staged_manifest` reference the previewed content.
    """

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="entries")
    name = models.CharField(max_length=128)
    description = models.TextField(blank=True)
    version = models.CharField(max_length=_SAID, blank=True)
    digest = models.CharField(max_length=_SAID, blank=True)
    location = models.TextField(blank=True)

    staged_digest = models.CharField(max_length=_DIGEST, blank=True)
    staged_manifest = ManifestField(default=tuple)
    staged_version = models.CharField(max_length=_SAID, blank=True)
    staged_source_digest = models.CharField(max_length=_SAID, blank=True)
    staged_at = models.DateTimeField(null=True)

    objects = SourceEntryQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "name"], name="one_entry_per_name")]


class Provenance(models.Model):
    """One import from a source: for the history of a version, and as the base of later merges.

    `fetched_digest` is the digest in the source; `digest` and `manifest` are those of the stored bundle, which differs
    if the skill was renamed. `version` is None until a proposal is approved.
    """

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="provenances")
    name = models.CharField(max_length=128)
    source_version = models.CharField(max_length=_SAID, blank=True)
    source_digest = models.CharField(max_length=_SAID, blank=True)
    pin = models.CharField(max_length=_SAID, blank=True)
    fetched_digest = models.CharField(max_length=_DIGEST)
    digest = models.CharField(max_length=_DIGEST)
    manifest = ManifestField()
    how = models.CharField(max_length=16)  # imported, replaced, merged or kept
    version = models.OneToOneField(Version, on_delete=models.CASCADE, null=True, related_name="provenance")
    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, null=True, related_name="provenances")
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)


class InstallationQuerySet(models.QuerySet["Installation"]):
    def standing(self) -> "InstallationQuerySet":
        """Exclude deleted skills and removed sources, and select what `edited` needs."""
        return self.filter(source__removed_at=None, skill__overrides=True).select_related(
            "base", "skill__current", "source"
        )

    def edited(self) -> "InstallationQuerySet":
        return self.exclude(skill__current__digest=F("base__digest"))


class Installation(models.Model):
    """An imported skill; `name` is its name in the source.

    `base` is the last import, the base for edits and updates. `before` is the version from before the first import,
    which is restored when the skill is uninstalled.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="installations")
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="installations")
    name = models.CharField(max_length=128)
    skill = models.OneToOneField(Skill, on_delete=models.CASCADE, related_name="installation")
    base = models.ForeignKey(Provenance, on_delete=models.PROTECT, related_name="+")
    before = models.ForeignKey(Version, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    # The newest content of the source that is not an update: the digest of the source, and of the bundle.
    known_digest = models.CharField(max_length=_SAID, blank=True)
    known_bundle = models.CharField(max_length=_DIGEST)

    objects = InstallationQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "name"], name="one_installation_per_entry")]

    @property
    def edited(self) -> bool:
        current = self.skill.current
        return current is None or current.digest != self.base.digest


def is_due(now: datetime) -> Q:
    """Match unfinished jobs that no worker holds."""
    return Q(state__in=(QUEUED, RUNNING), project__archived_at=None) & is_free(now)


class SourceJobQuerySet(models.QuerySet["SourceJob"]):
    def unfinished(self) -> "SourceJobQuerySet":
        return self.filter(state__in=(QUEUED, RUNNING))

    def for_list(self) -> "SourceJobQuerySet":
        """Order newest first, with the number of items (`total`) and of finished ones (`done`)."""
        return self.annotate(total=Count("items"), done=Count("items", filter=~Q(items__status=WAITING))).order_by(
            "-pk"
        )


class SourceJob(Leased):
    """Work on a source for the worker. `attempts` counts the leases since a worker last finished an item."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="source_jobs")
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=8, choices=[(kind, kind) for kind in JOBS])
    state = models.CharField(max_length=8, default=QUEUED, choices=[(state, state) for state in JOB_STATES])
    problem = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    # Who started the job and with which permissions it runs; both are empty for an operator.
    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, related_name="+")
    through = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    scopes = models.JSONField(default=list)
    address = models.CharField(max_length=45, blank=True)

    objects = SourceJobQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=JOBS), name="source_job_kind_is_known"),
            models.CheckConstraint(condition=Q(state__in=JOB_STATES), name="source_job_state_is_known"),
        ]
        indexes = [
            models.Index(fields=["id"], condition=Q(state__in=(QUEUED, RUNNING)), name="source_jobs_unfinished"),
        ]

    @property
    def finished(self) -> bool:
        return self.state in (DONE, FAILED)


class SourceJobItem(models.Model):
    """One skill of a job: the import request and its result."""

    job = models.ForeignKey(SourceJob, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=128)
    asked = models.JSONField(default=dict)

    status = models.CharField(max_length=16, default=WAITING)
    reason = models.CharField(max_length=1000, blank=True)
    skill = models.CharField(max_length=128, blank=True)
    version = models.CharField(max_length=128, blank=True)
    digest = models.CharField(max_length=_DIGEST, blank=True)
    proposal = models.ForeignKey(Proposal, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "position"], name="one_place_per_item"),
            models.UniqueConstraint(fields=["job", "name"], name="one_item_per_name"),
        ]
