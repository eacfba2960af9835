"""The golden set of a project: test questions with the skills that should be found for them.

Agents never read it. An agent that knows the questions could be written to pass them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from django.db.models import QuerySet
from django.utils import timezone

from registry.core import roles
from registry.core.catalog.precedence import EffectiveSkill
from registry.core.errors import AlreadyExists, Forbidden, InvalidRequest, NotFound
from registry.core.routing import golden
from registry.core.routing.golden import CASES, Case, query_digest
from registry.core.routing.metrics import StaleCase
from registry.models import GoldenCase, Project
from registry.services import audit
from registry.services.catalog import catalog
from registry.services.permissions import Actor, require

MOST_COMPARED = 50_000  # pairs of a missing and a served name, to find what a skill was renamed to
_FIELDS = ("query", "query_digest", "expected", "acceptable", "category", "note", "changed_at")


@dataclass(frozen=True, slots=True)
class Added:
    """The result of `add`: the numbers of new, replaced and unchanged cases, and all of their rows."""

    added: int
    replaced: int
    unchanged: int
    rows: tuple[GoldenCase, ...]


def require_person(by: Actor, project: Project) -> None:
    """Require a person who may change skills. An agent is refused whatever its scopes are."""
    if by.agent_id is not None and by.project_id == project.pk:
        raise Forbidden("Agents cannot see or change the test questions of a project. Use the token of a person.")
    require(by, roles.WRITE, project)


def cases(project: Project, *, by: Actor) -> list[GoldenCase]:
    """Return the test questions in the order in which they were added."""
    require_person(by, project)
    return list(_rows(project))


def find(project: Project, case_id: int, *, by: Actor) -> GoldenCase:
    require_person(by, project)
    row = _rows(project).filter(pk=case_id).first()
    if row is None:
        raise NotFound("There is no such test question in this project. Somebody may have deleted it.")
    return row


def find_equal(project: Project, query: str, *, by: Actor) -> GoldenCase | None:
    """Return the test question with the same words, or None. Case and spaces do not matter."""
    require_person(by, project)
    return _rows(project).filter(query_digest=query_digest(query)).first()


def as_case(row: GoldenCase) -> Case:
    return Case(row.query, tuple(row.expected), tuple(row.acceptable), row.category, row.note)


def all_of(project_id: int) -> tuple[Case, ...]:
    """Return the cases without a check of permissions, to measure or to export them."""
    return tuple(as_case(row) for row in GoldenCase.objects.filter(project_id=project_id).order_by("pk"))


def exists(project: Project) -> bool:
    return _rows(project).exists()


def add(project: Project, cases: Sequence[Case], *, by: Actor, labels: Sequence[str] | None = None) -> Added:
    """Add test questions, all or none. A case replaces the one with the same question.

    `labels` name the cases in errors, as in `golden.check_all`.
    """
    require_person(by, project)
    checked = golden.check_all(cases, labels or [f"Question {number}" for number in range(1, len(cases) + 1)])
    if not checked:
        raise InvalidRequest("There are no test questions. Add at least one.", field="cases")
    with audit.change(project, "golden.added", by=by, target=project.slug) as change:
        present = {row.query_digest: row for row in _rows(project)}
        new = {query_digest(case.query): case for case in checked}
        kept = [row.query for digest, row in present.items() if digest not in new]
        golden.check_size([*kept, *(case.query for case in checked)])
        changed = [present[key] for key, case in new.items() if key in present and as_case(present[key]) != case]
        for row in changed:
            _fill(row, new[row.query_digest])
        created = [_fill(GoldenCase(project=project), case) for key, case in new.items() if key not in present]
        GoldenCase.objects.bulk_update(changed, _FIELDS, batch_size=100)
        GoldenCase.objects.bulk_create(created, batch_size=100)
        change.data.update(added=len(created), replaced=len(changed))
        if not created and not changed:
            change.cancel()
    rows = tuple(GoldenCase.objects.filter(project=project, query_digest__in=list(new)).order_by("pk"))
    return Added(len(created), len(changed), len(new) - len(created) - len(changed), rows)


def change(project: Project, case_id: int, case: Case, *, by: Actor) -> GoldenCase:
    """Change a test question. It keeps its place in the list."""
    require_person(by, project)
    checked = case.checked()
    with audit.change(project, "golden.changed", by=by, target=project.slug) as change:
        row = find(project, case_id, by=by)
        others = _rows(project).filter(query_digest=query_digest(checked.query)).exclude(pk=case_id)
        if others.exists():
            raise AlreadyExists("Another test question has the same words. Change or delete that one.", field="query")
        change.data["case"] = case_id
        if as_case(row) == checked:
            change.cancel()
            return row
        queries = _rows(project).exclude(pk=case_id).values_list("query", flat=True)
        golden.check_size([*queries, checked.query])
        _fill(row, checked).save(update_fields=_FIELDS)
    return row


def delete(project: Project, case_ids: Iterable[int], *, by: Actor) -> int:
    """Delete test questions, all or none, and return their number."""
    require_person(by, project)
    wanted = set(case_ids)
    if not wanted:
        raise InvalidRequest("No test question is selected. Select at least one.", field="cases")
    with audit.change(project, "golden.deleted", by=by, target=project.slug) as change:
        rows = _rows(project).filter(pk__in=list(wanted)[: CASES + 1])
        if rows.count() != len(wanted):
            raise NotFound("A test question is not in this project any more. Reload the list. Nothing was deleted.")
        change.data["deleted"] = len(wanted)
        rows.delete()
    return len(wanted)


def why_stale(project: Project, case: Case) -> str:
    """Return why a case is not counted, or an empty text."""
    revision = Project.objects.values_list("revision", flat=True).get(pk=project.pk)
    return " ".join(each.reason for each in split(project.pk, revision, [case])[1])


def stale(project: Project) -> list[StaleCase]:
    """Return the cases that expect a skill which agents do not get."""
    revision = Project.objects.values_list("revision", flat=True).get(pk=project.pk)
    return split(project.pk, revision, all_of(project.pk))[1]


def split(project_id: int, revision: int, cases: Iterable[Case]) -> tuple[list[Case], list[StaleCase]]:
    """Return the cases that can be judged and the stale ones.

    A case is stale if agents do not get one of its expected skills. An acceptable skill that is gone changes nothing.
    """
    reasons = _StaleReasons(catalog.view(project_id, revision).skills)
    live: list[Case] = []
    gone: list[StaleCase] = []
    for case in cases:
        if missing := tuple(name for name in case.expected if name not in reasons.served):
            gone.append(StaleCase(case, missing, " ".join(map(reasons.of, missing))))
        else:
            live.append(case)
    return live, gone


class _StaleReasons:
    """Say why agents do not get a skill. To find a similar name takes 15 µs for each served one, so it is bounded."""

    def __init__(self, skills: Iterable[EffectiveSkill]) -> None:
        self._skills = {skill.name: skill for skill in skills}
        self.served = dict.fromkeys(name for name, skill in self._skills.items() if skill.served)
        self._compared = 0
        self._known: dict[str, str] = {}

    def of(self, name: str) -> str:
        if name not in self._known:
            self._known[name] = self._of(name)
        return self._known[name]

    def _of(self, name: str) -> str:
        skill = self._skills.get(name)
        if skill is None:
            similar = self._similar(name)
            hint = f" If it was renamed to {similar}, change the question." if similar else ""
            return f"There is no skill {name}.{hint}"
        return f"{name} is switched off." if not skill.enabled else f"{name} has no version that agents get."

    def _similar(self, name: str) -> str:
        if self._compared >= MOST_COMPARED:
            return ""
        self._compared += len(self.served)
        return next(iter(get_close_matches(name, self.served, n=1)), "")


def _rows(project: Project) -> QuerySet[GoldenCase]:
    return GoldenCase.objects.filter(project=project).order_by("pk")


def _fill(row: GoldenCase, case: Case) -> GoldenCase:
    row.query, row.query_digest = case.query, query_digest(case.query)
    row.expected, row.acceptable = list(case.expected), list(case.acceptable)
    row.category, row.note, row.changed_at = case.category, case.note, timezone.now()
    return row
