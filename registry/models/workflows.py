"""Runs of workflows: their locks, steps, questions and answers, and the capabilities of owners."""

from collections.abc import Collection

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from registry.core.workflows.records import FINAL, Asks, RunState, Shape, StepState
from registry.models.accounts import Project, User
from registry.models.agents import Agent, Token

_DIGEST = 71
_STATES = [state.value for state in RunState]
_FINAL = sorted(state.value for state in FINAL)

# Of a question. It is withdrawn when its run ends without an answer.
OPEN, APPROVED, DENIED, EXPIRED, WITHDRAWN = "open", "approved", "denied", "expired", "withdrawn"
QUESTION_STATES = (OPEN, APPROVED, DENIED, EXPIRED, WITHDRAWN)


class RunLock(models.Model):
    """The parts of runs: the plans of a skill and its nested skills, and the digests of everything that they use.

    Runs of the same version share it. It never changes.
    """

    digest = models.CharField(max_length=_DIGEST, unique=True)
    document = models.JSONField()


def _made(people: Collection[int]) -> models.QuerySet[Token]:
    return Token.objects.filter(project=OuterRef("project"), owner__in=people)


def _of_own_agent(people: Collection[int]) -> Q:
    for_agent = _made(people).filter(agent=OuterRef("agent"))
    return Q(agent__isnull=False) & (Q(through__in=people) | Q(Exists(for_agent)))


class RunQuerySet(models.QuerySet["Run"]):
    def of(self, project: Project) -> "RunQuerySet":
        return self.filter(project=project)

    def for_list(self) -> "RunQuerySet":
        large = ("inputs", "outputs", "frame", "options")
        return self.select_related("user", "agent").defer(*large).order_by("-pk")

    def barring(self, people: Collection[int]) -> "RunQuerySet":
        """Filter for the runs that one of these people may not approve.

        They started it, or they made a token of the agent or the person who did, and so could act in their name. A
        project can allow it for agents.
        """
        for_person = _made(people).filter(user=OuterRef("user"))
        theirs = Q(user__in=people) | Q(agent=None, through__in=people) | Exists(for_person)
        return self.filter(theirs | (_of_own_agent(people) & Q(project__makers_approve=False)))

    def of_own_agents(self, people: Collection[int]) -> "RunQuerySet":
        """Filter for the runs of agents for which one of these people made a token."""
        return self.filter(_of_own_agent(people))


class Run(models.Model):
    """One run of a workflow.

    A worker that carries the run leases it. `fence` grows with each lease, and a worker writes only while the fence is
    the one that it took. A run is due at `wake_at`, unless a worker leases it; without a time it waits for an answer.
    `inbox` counts the answers and cancellations, so that a worker that parks the run does not overlook one. `changes`
    grows with everything that people and programs can see of the run, so that they can follow it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    skill = models.CharField(max_length=128)
    version = models.CharField(max_length=128)
    digest = models.CharField(max_length=_DIGEST)
    lock = models.ForeignKey(RunLock, on_delete=models.PROTECT, related_name="runs")
    state = models.CharField(max_length=9, default=RunState.QUEUED.value, choices=[(each, each) for each in _STATES])
    inputs = models.JSONField(default=dict)
    frame = models.JSONField(null=True)
    options = models.JSONField(default=dict)
    trust = models.CharField(max_length=16)
    replay_of = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="replays")

    # Who started it. Both are empty for an operator. `through` is the person who made the token.
    user = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True, related_name="+")
    through = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    started_by = models.CharField(max_length=150)

    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    deadline = models.DateTimeField(null=True)

    wake_at = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True)
    worker = models.CharField(max_length=64, blank=True)
    fence = models.PositiveIntegerField(default=0)
    inbox = models.PositiveIntegerField(default=0)
    changes = models.PositiveIntegerField(default=0)
    troubles = models.PositiveSmallIntegerField(default=0)  # how often a worker could not carry it
    cancelled_by = models.CharField(max_length=150, blank=True)

    outputs = models.JSONField(null=True)
    code = models.CharField(max_length=32, blank=True)  # of the failure
    reason = models.CharField(max_length=1_000, blank=True)
    state_digest = models.CharField(max_length=_DIGEST, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=_STATES), name="run_state_is_known"),
            models.CheckConstraint(
                condition=~Q(state__in=_FINAL) | Q(wake_at=None, leased_until=None), name="a_finished_run_is_never_due"
            ),
        ]
        indexes = [
            models.Index(fields=["wake_at"], condition=Q(wake_at__isnull=False), name="runs_due"),
            models.Index(fields=["project", "-id"], name="runs_of_a_project"),
        ]

    @property
    def is_finished(self) -> bool:
        return self.state in _FINAL


class RunStep(models.Model):
    """One path of a run, with its history. The columns are those of `core/workflows/records.py`.

    `input`, `output` and `held` are stored values: see `services/workflows/stored_values.py`.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps")
    path = models.CharField(max_length=500)
    step = models.CharField(max_length=64)
    shape = models.CharField(max_length=8, choices=[(shape.value, shape.value) for shape in Shape])
    state = models.CharField(max_length=9, choices=[(state.value, state.value) for state in StepState])
    uses = models.CharField(max_length=200, blank=True)
    phase = models.CharField(max_length=4, blank=True)
    asks = models.CharField(max_length=7, blank=True)
    began = models.PositiveIntegerField()
    ended = models.PositiveIntegerField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    input = models.JSONField(null=True)
    output = models.JSONField(null=True)
    held = models.JSONField(null=True)
    code = models.CharField(max_length=32, blank=True)
    message = models.CharField(max_length=1_000, blank=True)
    reason = models.CharField(max_length=1_000, blank=True)
    blocked = models.BooleanField(default=False)
    verdicts = models.JSONField(null=True)
    post_verdicts = models.JSONField(null=True)
    approvals = models.JSONField(default=list)
    definition = models.CharField(max_length=_DIGEST, blank=True)
    reads = models.JSONField(default=list)
    writes = models.JSONField(default=list)
    notes = models.JSONField(default=dict)
    wake_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "path"], name="one_step_per_path")]


class RunTask(models.Model):
    """A task of a run for Celery workers. A worker claims it with one conditional update.

    The decision that starts a task inserts the row, and the one that takes its outcome deletes it. So the run stays
    right whatever happens to the messages. `seconds` is the time limit of each of its calls. A claim is leased, and
    ends at the deadline. `outcome` is a stored value.
    """

    QUEUED, CLAIMED, DONE = "queued", "claimed", "done"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="tasks")
    path = models.CharField(max_length=500)
    phase = models.CharField(max_length=4)
    attempt = models.PositiveIntegerField()
    seconds = models.FloatField()
    state = models.CharField(max_length=7, default=QUEUED, choices=[(each, each) for each in (QUEUED, CLAIMED, DONE)])
    leased_until = models.DateTimeField(null=True)
    deadline = models.DateTimeField(null=True)
    outcome = models.JSONField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "path"], name="one_task_per_path")]


class RunBlob(models.Model):
    """A stored file with a large value of a run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="blobs")
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "digest"], name="one_row_per_value_of_a_run")]


class RunQuestionQuerySet(models.QuerySet["RunQuestion"]):
    def open_in(self, project: Project) -> "RunQuestionQuerySet":
        """Return the open questions of a project with their runs, oldest first."""
        return self.filter(run__project=project, state=OPEN).select_related("run__user", "run__agent").order_by("pk")


class RunQuestion(models.Model):
    """A question of a run. `digest` covers what is asked, and an answer has to name it.

    `shown` is what people see. `people` and `roles` say who may answer, and `needed` how many have to approve. `value`
    is the answer. `taken` is true as soon as the run has taken the answer.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="questions")
    path = models.CharField(max_length=500)
    kind = models.CharField(max_length=7, choices=[(kind.value, kind.value) for kind in Asks])
    digest = models.CharField(max_length=_DIGEST)
    shown = models.JSONField()
    people = models.JSONField(default=list)
    roles = models.JSONField(default=list)
    needed = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=9, default=OPEN, choices=[(state, state) for state in QUESTION_STATES])
    value = models.JSONField(null=True)
    comment = models.CharField(max_length=1_000, blank=True)
    answered_by = models.CharField(max_length=150, blank=True)
    asked_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    taken = models.BooleanField(default=False)

    objects = RunQuestionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "path"], condition=Q(state=OPEN), name="one_open_question_per_path"),
            models.CheckConstraint(condition=Q(state__in=QUESTION_STATES), name="question_state_is_known"),
        ]
        indexes = [models.Index(fields=["expires_at"], condition=Q(state=OPEN), name="questions_open")]


class RunApproval(models.Model):
    """One person's approval of a question that needs several."""

    question = models.ForeignKey(RunQuestion, on_delete=models.CASCADE, related_name="approvals")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    comment = models.CharField(max_length=1_000, blank=True)
    at = models.DateTimeField(default=timezone.now)
    own_agent = models.BooleanField(default=False)  # they made a token of the agent, and the project allows it

    class Meta:
        constraints = [models.UniqueConstraint(fields=["question", "user"], name="one_approval_per_person")]


class ProjectCapabilityQuerySet(models.QuerySet["ProjectCapability"]):
    def for_list(self) -> "ProjectCapabilityQuerySet":
        return self.select_related("changed_by").order_by("name")


class ProjectCapability(models.Model):
    """A capability that an owner registered for one project. `text` is its file, and `digest` the one of the text."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="capabilities")
    name = models.CharField(max_length=128)
    text = models.TextField()
    digest = models.CharField(max_length=_DIGEST)
    changed_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(default=timezone.now)

    objects = ProjectCapabilityQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_capability_per_name")]
