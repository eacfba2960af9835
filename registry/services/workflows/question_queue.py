"""Question queue: the open questions of runs that wait for a person, in a project or in all of theirs."""

from collections.abc import Iterable

from django.db.models import Count, Q
from django.db.models.fields.json import KT
from django.db.models.functions import Substr
from django.utils import timezone

from registry.core import roles
from registry.core.workflows.plan import Approvers
from registry.core.workflows.question_text import headline
from registry.models import Project, RunQuestion, User
from registry.models.workflows import OPEN, RunQuestionQuerySet
from registry.services.notifications.recipients import REVIEWING
from registry.services.permissions import Actor, require
from registry.services.workflows import answerers

_READ_CHARS = 600  # of a text in a list
_ROLE = "run__project__memberships__role"  # of the person who asks; set by the filter of `_open`
_GROUP = ("run__project", "people", "roles", _ROLE)


def all_open(project: Project, *, by: Actor) -> RunQuestionQuerySet:
    """Return all open questions of a project, oldest first."""
    require(by, roles.READ, project)
    return RunQuestion.objects.open_in(project)


def find(project: Project, *, by: Actor) -> RunQuestionQuerySet:
    """Return the open questions of a project that this person may answer, oldest first."""
    require(by, roles.READ, project)
    if by.user_id is None or not by.may(roles.REVIEW):
        return RunQuestion.objects.none()
    open_ = _open(answerers.identities(by), by.user_id, project)
    groups = open_.order_by().values_list(*_GROUP).distinct()
    asking = [Q(people=people, roles=asked) for _, people, asked, role in groups if _asks(people, asked, by.name, role)]
    if not asking:
        return RunQuestion.objects.none()
    matching = Q(*asking, _connector=Q.OR)
    return open_.filter(matching).select_related("run__project", "run__user", "run__agent").order_by("pk")


def lines(questions: RunQuestionQuerySet) -> RunQuestionQuerySet:
    """Read only what a list shows, because a question holds up to a megabyte."""
    return questions.defer("shown", "value").annotate(
        capability=KT("shown__capability"),
        target=KT("shown__target"),
        reason=Substr(KT("shown__reason"), 1, _READ_CHARS),
        question=Substr(KT("shown__input__question"), 1, _READ_CHARS),
    )


def title(line: RunQuestion) -> str:
    """Return what a row of `lines` asks."""
    names = ("capability", "target", "reason")
    shown = {name: getattr(line, name) or "" for name in names}
    return headline(line.kind, {**shown, "input": {"question": getattr(line, "question", None) or ""}})


def count(project: Project, *, by: Actor) -> int:
    """Count the open questions of a project that this person may answer."""
    require(by, roles.READ, project)
    if by.user_id is None or not by.may(roles.REVIEW):
        return 0
    return sum(_counts(_open(answerers.identities(by), by.user_id, project), by.name).values())


def counts(user: User) -> dict[int, int]:
    """Count the open questions that a person may answer, by project."""
    return _counts(_open([user.pk], user.pk), user.username)


def _open(people: list[int], user_id: int, project: Project | None = None) -> RunQuestionQuerySet:
    """Return the open questions that the person is not barred from, in projects where they review."""
    member = {"run__project__memberships__user": user_id, f"{_ROLE}__in": REVIEWING}
    of_project = {} if project is None else {"run__project": project}
    late = Q(expires_at__lte=timezone.now())
    found = RunQuestion.objects.filter(~late, state=OPEN, run__project__archived_at=None, **of_project, **member)
    return answerers.not_barred(found, people)


def _counts(open_: RunQuestionQuerySet, name: str) -> dict[int, int]:
    """Count with one query. Questions that ask the same people are one row of it."""
    groups = open_.order_by().values_list(*_GROUP).annotate(Count("pk"))
    found: dict[int, int] = {}
    for project, people, asked, role, number in groups:
        if _asks(people, asked, name, role):
            found[project] = found.get(project, 0) + number
    return found


def _asks(people: Iterable[str], asked: Iterable[str], name: str, role: str) -> bool:
    return Approvers(tuple(people), tuple(asked)).include(name, role)
