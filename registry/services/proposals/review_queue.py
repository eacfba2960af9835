"""Review queue: filter, sort, count and reject proposals, with a fixed number of queries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, Count, IntegerField, Max, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Substr
from django.utils import timezone

from registry.core import roles
from registry.core.errors import InvalidRequest, SkillsiteError
from registry.core.proposals import lifecycle
from registry.core.proposals.lifecycle import State
from registry.core.proposals.risk import Risk
from registry.core.text.shorten import one_line, shorten
from registry.models import Project, Proposal, ProposalRevision
from registry.models.proposals import ProposalQuerySet
from registry.services.permissions import Actor
from registry.services.proposals import prepare, proposals, reviews
from registry.services.skills import stale_proposals

PAGE, MOST_AT_ONCE = 25, 100
_CHOICES = 200
_TITLE_CHARS, _READ_CHARS = 100, 600
_LATE = timedelta(days=3)

WAITING, DECIDED = State.OPEN.value, "decided"
GROUPS: dict[str, tuple[State, ...]] = {
    **{state.value: (state,) for state in State},
    DECIDED: lifecycle.FINAL,
}
RISKS = tuple(risk.value for risk in reversed(Risk))
OLDEST, NEWEST, RISKIEST = "oldest", "newest", "risk"
SORTS = {OLDEST: "Oldest first", NEWEST: "Newest first", RISKIEST: "Highest risk first"}
_COLUMNS = {OLDEST: "created_at", NEWEST: "updated_at", RISKIEST: "weight"}
PEOPLE, AGENTS = "people", "agents"


@dataclass(frozen=True, slots=True)
class Query:
    """Filters of the queue. Empty means any; `proposer` is people, agents, `person:name` or `agent:name`."""

    state: str = WAITING
    skill: str = ""
    proposer: str = ""
    risk: str = ""
    sort: str = ""

    @property
    def states(self) -> tuple[State, ...]:
        return GROUPS[self.state]

    @property
    def order(self) -> str:
        """The sort order. By default, waiting proposals start with the oldest, closed ones with the newest."""
        return self.sort or (NEWEST if set(self.states) <= set(lifecycle.FINAL) else OLDEST)

    @property
    def narrows(self) -> bool:
        return bool(self.skill or self.proposer or self.risk)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the queue.

    `others` counts the backers besides the proposer. `own` means that the actor may not approve it. `late` means that
    it has waited for a reviewer for more than three days.
    """

    proposal: Proposal
    title: str
    comments: int
    others: int
    own: bool
    late: bool


def find(project: Project, query: Query, *, by: Actor) -> ProposalQuerySet:
    """Return the matching proposals that the actor can see, sorted."""
    shown = proposals.visible(project, by=by)
    stale_proposals.check_built_in(project)
    matching = _narrowed(shown, query).filter(state__in=query.states).select_related("user", "agent", "decided_by")
    sign = "-" if query.order == NEWEST else ""
    return matching.order_by(f"{sign}{_COLUMNS[query.order]}", f"{sign}pk")


def _narrowed(shown: ProposalQuerySet, query: Query) -> ProposalQuerySet:
    """Apply all filters except the state, and annotate the weight of the risk."""
    weights = [When(risk=risk, then=Value(place)) for place, risk in enumerate(RISKS)]
    shown = shown.annotate(weight=Case(*weights, default=Value(0), output_field=IntegerField()))
    shown = shown.filter(_proposer(query.proposer))
    if query.skill:
        shown = shown.filter(skill=query.skill)
    return shown.filter(risk=query.risk) if query.risk else shown


def of_skill(project: Project, name: str, *, by: Actor) -> ProposalQuerySet:
    """Return all proposals for one skill, newest first."""
    shown = proposals.visible(project, by=by)
    stale_proposals.check_built_in(project)
    return shown.filter(skill=name).select_related("user", "agent", "decided_by").order_by("-pk")


def _proposer(proposer: str) -> Q:
    if proposer in (PEOPLE, AGENTS):
        return Q(agent__isnull=proposer == PEOPLE)
    kind, _, name = proposer.partition(":")
    if not name:
        return Q()
    return Q(agent__name=name) if kind == "agent" else Q(user__username=name)


def rows(page: Sequence[Proposal], *, by: Actor) -> list[Row]:
    """Return the rows for one page of proposals."""
    newest = ProposalRevision.objects.filter(proposal=OuterRef("pk"), number=OuterRef("revision"))
    annotated = Proposal.objects.filter(pk__in=[each.pk for each in page]).annotate(
        start=Subquery(newest.annotate(opening=Substr("justification", 1, _READ_CHARS)).values("opening")[:1]),
        comment_count=Count("comments", filter=Q(comments__action=""), distinct=True),
        backer_count=Count("backers", distinct=True),
    )
    facts = {number: rest for number, *rest in annotated.values_list("pk", "start", "comment_count", "backer_count")}
    own = set(reviews.own_backers(by).filter(proposal__in=page).values_list("proposal", flat=True))
    late = timezone.now() - _LATE
    return [
        Row(
            each,
            headline(start),
            comments,
            backers - 1,
            each.pk in own,
            each.state == State.OPEN and each.created_at < late,
        )
        for each in page
        for start, comments, backers in (facts[each.pk],)
    ]


def headline(justification: str) -> str:
    """Return the title of a proposal: the first line of its justification, or the first sentence of a long line."""
    line = one_line(justification.strip().split("\n", 1)[0])
    if len(line) > _TITLE_CHARS and 0 < (end := line.find(". ")) < _TITLE_CHARS:
        line = line[: end + 1]
    return shorten(line, _TITLE_CHARS) if len(line) > _TITLE_CHARS else line.removesuffix(".")


def counts(project: Project, *, by: Actor) -> dict[str, int]:
    """Count the proposals in each state."""
    shown = proposals.visible(project, by=by).order_by()
    return dict(shown.values_list("state").annotate(Count("pk")))


@dataclass(frozen=True, slots=True)
class Choices:
    """The values that the filters offer. `proposers` are pairs of value and label."""

    skills: tuple[str, ...]
    proposers: tuple[tuple[str, str], ...]


def choices(project: Project, states: Iterable[State], *, by: Actor) -> Choices:
    shown = proposals.visible(project, by=by).filter(state__in=tuple(states)).order_by()
    skills = shown.values_list("skill", flat=True).distinct()[:_CHOICES]
    names = ("agent__name", "user__username", "user__first_name", "user__last_name")
    people = {
        (f"agent:{agent}", f"Agent {agent}") if agent else (f"person:{user}", f"{first} {last}".strip() or user)
        for agent, user, first, last in shown.values_list(*names).distinct()[:_CHOICES]
    }
    return Choices(tuple(sorted(skills)), tuple(sorted(people, key=lambda each: each[1].lower())))


def waiting(project: Project, *, by: Actor) -> int:
    """Count the proposals that wait for this reviewer, without their own; for others, count their own that wait."""
    shown = proposals.visible(project, by=by).filter(state=State.OPEN)
    if by.may(roles.REVIEW):
        shown = shown.exclude(pk__in=reviews.own_backers(by).values("proposal"))
    return shown.count()


def waiting_by_skill(project: Project, names: Iterable[str], *, by: Actor) -> dict[str, int]:
    """Count the undecided proposals for each skill."""
    shown = proposals.visible(project, by=by).undecided().filter(skill__in=list(names)).order_by()
    return dict(shown.values_list("skill").annotate(Count("pk")))


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The ids of the previous and the next proposal."""

    before: int | None
    after: int | None


def neighbours(project: Project, proposal: Proposal, query: Query, *, by: Actor) -> Neighbours:
    """Return the neighbours in the queue of `query`, or among all in the same state if it is not in that queue.

    After a decision, the neighbours are proposals that still wait for review.
    """
    shown = proposals.visible(project, by=by)
    reviewed = by.may(roles.REVIEW) and proposal.state in (*lifecycle.FINAL, State.CHANGES_REQUESTED)
    in_queue = proposal.state in query.states or (reviewed and query.state == WAITING)
    if not in_queue or (query.narrows and not _narrowed(shown, query).filter(pk=proposal.pk).exists()):
        query = Query(WAITING if reviewed else proposal.state, sort=OLDEST)
    others = _narrowed(shown, query).filter(state__in=query.states).exclude(pk=proposal.pk)
    column = _COLUMNS[query.order]
    value = _sort_value(proposal, query)
    lower = Q(**{f"{column}__lt": value}) | Q(**{column: value, "pk__lt": proposal.pk})
    below = others.filter(lower).order_by(f"-{column}", "-pk").values_list("pk", flat=True).first()
    above = others.exclude(lower).order_by(column, "pk").values_list("pk", flat=True).first()
    return Neighbours(above, below) if query.order == NEWEST else Neighbours(below, above)


def _sort_value(proposal: Proposal, query: Query) -> int | datetime:
    """Return the value that it is sorted by.

    A decision changes `updated_at`, so a proposal from the waiting queue keeps the place of its last revision.
    """
    if query.order == RISKIEST:
        return RISKS.index(proposal.risk)
    if query.order == NEWEST and query.state == WAITING:
        return proposal.revisions.aggregate(at=Max("created_at"))["at"] or proposal.updated_at
    return proposal.updated_at if query.order == NEWEST else proposal.created_at


@dataclass(frozen=True, slots=True)
class Rejection:
    """The ids that were rejected, and those that were not, with the reason."""

    rejected: tuple[int, ...]
    refused: tuple[tuple[int, str], ...]


def reject(project: Project, numbers: Sequence[int], *, comment: str, by: Actor) -> Rejection:
    """Reject several proposals with one reason. A proposal that cannot be rejected does not stop the others."""
    if not numbers:
        raise InvalidRequest("Select at least one proposal. Nothing was changed.")
    if len(numbers) > MOST_AT_ONCE:
        raise InvalidRequest(
            f"You selected {len(numbers)} proposals. {MOST_AT_ONCE} are allowed at once. Nothing was changed."
        )
    reviews.require_reviewer(project, by=by)
    comment = prepare.text(comment, what="reason")
    rejected, refused = list[int](), list[tuple[int, str]]()
    for number in dict.fromkeys(numbers):
        try:
            reviews.reject(project, number, comment=comment, by=by)
            rejected.append(number)
        except SkillsiteError as error:
            refused.append((number, error.message))
    return Rejection(tuple(rejected), tuple(refused))
