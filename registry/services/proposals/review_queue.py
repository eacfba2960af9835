"""The queue of proposals: found, ordered, counted and turned down together, with a fixed number of queries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, Count, IntegerField, Max, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Substr
from django.utils import timezone

from registry.core import roles
from registry.core.catalog import prompt
from registry.core.errors import InvalidRequest, SkillsiteError
from registry.core.proposals import lifecycle
from registry.core.proposals.assessment import Risk
from registry.core.proposals.lifecycle import State
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
    """What somebody looks for. Empty means any; `proposer` is people, agents, `person:name` or `agent:name`."""

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
        """What waits longest comes first; of what is decided, the newest."""
        return self.sort or (NEWEST if set(self.states) <= set(lifecycle.FINAL) else OLDEST)

    @property
    def narrows(self) -> bool:
        return bool(self.skill or self.proposer or self.risk)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the queue. `own`: whoever looks may not approve it, because it is theirs.

    `late`: it has waited for a reviewer for days, which nobody should find out by reading every age.
    """

    proposal: Proposal
    title: str
    comments: int
    others: int
    own: bool
    late: bool


def find(project: Project, query: Query, *, by: Actor) -> ProposalQuerySet:
    """Those that match and that somebody may see, in order."""
    shown = proposals.visible(project, by=by)
    stale_proposals.check_built_in(project)
    found = _narrowed(shown, query).filter(state__in=query.states).select_related("user", "agent", "decided_by")
    sign = "-" if query.order == NEWEST else ""
    return found.order_by(f"{sign}{_COLUMNS[query.order]}", f"{sign}pk")


def _narrowed(shown: ProposalQuerySet, query: Query) -> ProposalQuerySet:
    """What the query asks of a proposal whatever became of it, with the weight of its risk."""
    weights = [When(risk=risk, then=Value(place)) for place, risk in enumerate(RISKS)]
    shown = shown.annotate(weight=Case(*weights, default=Value(0), output_field=IntegerField()))
    shown = shown.filter(_proposer(query.proposer))
    if query.skill:
        shown = shown.filter(skill=query.skill)
    return shown.filter(risk=query.risk) if query.risk else shown


def of_skill(project: Project, name: str, *, by: Actor) -> ProposalQuerySet:
    """All for one skill, the newest first."""
    shown = proposals.visible(project, by=by)
    stale_proposals.check_built_in(project)
    return shown.filter(skill=name).select_related("user", "agent", "decided_by").order_by("-pk")


def _proposer(asked: str) -> Q:
    if asked in (PEOPLE, AGENTS):
        return Q(agent__isnull=asked == PEOPLE)
    kind, _, name = asked.partition(":")
    if not name:
        return Q()
    return Q(agent__name=name) if kind == "agent" else Q(user__username=name)


def rows(page: Sequence[Proposal], *, by: Actor) -> list[Row]:
    """The lines of one page of what `find` found, with all that they say."""
    newest = ProposalRevision.objects.filter(proposal=OuterRef("pk"), number=OuterRef("revision"))
    told = Proposal.objects.filter(pk__in=[each.pk for each in page]).annotate(
        said=Subquery(newest.annotate(start=Substr("justification", 1, _READ_CHARS)).values("start")[:1]),
        talk=Count("comments", filter=Q(comments__action=""), distinct=True),
        voices=Count("backers", distinct=True),
    )
    facts = {number: rest for number, *rest in told.values_list("pk", "said", "talk", "voices")}
    own = set(reviews.own_backers(by).filter(proposal__in=page).values_list("proposal", flat=True))
    late = timezone.now() - _LATE
    return [
        Row(each, headline(said), talk, voices - 1, each.pk in own, each.state == State.OPEN and each.created_at < late)
        for each in page
        for said, talk, voices in (facts[each.pk],)
    ]


def headline(justification: str) -> str:
    """What a proposal is called: the first line of its reason, or its first sentence where that line is long."""
    line = prompt.one_line(justification.strip().split("\n", 1)[0])
    if len(line) > _TITLE_CHARS and 0 < (end := line.find(". ")) < _TITLE_CHARS:
        line = line[: end + 1]
    return prompt.shorten(line, _TITLE_CHARS) if len(line) > _TITLE_CHARS else line.removesuffix(".")


def counts(project: Project, *, by: Actor) -> dict[str, int]:
    """How many there are in each state."""
    shown = proposals.visible(project, by=by).order_by()
    return dict(shown.values_list("state").annotate(Count("pk")))


@dataclass(frozen=True, slots=True)
class Choices:
    """What the filters can be set to; `proposers` are values and labels."""

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
    """How many wait for this reviewer, who may not approve their own; for others, how many of theirs wait."""
    shown = proposals.visible(project, by=by).filter(state=State.OPEN)
    if by.may(roles.REVIEW):
        shown = shown.exclude(pk__in=reviews.own_backers(by).values("proposal"))
    return shown.count()


def waiting_by_skill(project: Project, names: Iterable[str], *, by: Actor) -> dict[str, int]:
    """How many undecided ones there are for each skill."""
    shown = proposals.visible(project, by=by).undecided().filter(skill__in=list(names)).order_by()
    return dict(shown.values_list("skill").annotate(Count("pk")))


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The numbers of the proposals before and after one."""

    before: int | None
    after: int | None


def neighbours(project: Project, proposal: Proposal, query: Query, *, by: Actor) -> Neighbours:
    """Those beside it in the queue that `query` makes, or among all in its state where it is not of that queue.

    A reviewer who gave an answer goes on to what still waits for one.
    """
    shown = proposals.visible(project, by=by)
    answered = by.may(roles.REVIEW) and proposal.state in (*lifecycle.FINAL, State.CHANGES_REQUESTED)
    stood = proposal.state in query.states or (answered and query.state == WAITING)
    if not stood or (query.narrows and not _narrowed(shown, query).filter(pk=proposal.pk).exists()):
        query = Query(WAITING if answered else proposal.state, sort=OLDEST)
    others = _narrowed(shown, query).filter(state__in=query.states).exclude(pk=proposal.pk)
    column = _COLUMNS[query.order]
    own = _stood_at(proposal, query)
    lower = Q(**{f"{column}__lt": own}) | Q(**{column: own, "pk__lt": proposal.pk})
    below = others.filter(lower).order_by(f"-{column}", "-pk").values_list("pk", flat=True).first()
    above = others.exclude(lower).order_by(column, "pk").values_list("pk", flat=True).first()
    return Neighbours(above, below) if query.order == NEWEST else Neighbours(below, above)


def _stood_at(proposal: Proposal, query: Query) -> int | datetime:
    """Where it stands in the order; an answer moves it in time, so of what waited it is where its text came in."""
    if query.order == RISKIEST:
        return RISKS.index(proposal.risk)
    if query.order == NEWEST and query.state == WAITING:
        return proposal.revisions.aggregate(at=Max("created_at"))["at"] or proposal.updated_at
    return proposal.updated_at if query.order == NEWEST else proposal.created_at


@dataclass(frozen=True, slots=True)
class Outcome:
    """The numbers that were rejected, and those that were left alone with why."""

    rejected: tuple[int, ...]
    refused: tuple[tuple[int, str], ...]


def reject(project: Project, numbers: Sequence[int], *, comment: str, by: Actor) -> Outcome:
    """The same answer for several. Each is a decision of its own; one that cannot be made does not stop the others."""
    if not numbers:
        raise InvalidRequest("No proposal is ticked. Nothing was changed.")
    if len(numbers) > MOST_AT_ONCE:
        raise InvalidRequest(f"{len(numbers)} are ticked. {MOST_AT_ONCE} are allowed at once. Nothing was changed.")
    reviews.require_reviewer(project, by=by)
    comment = prepare.text(comment, what="reason")
    rejected, refused = list[int](), list[tuple[int, str]]()
    for number in dict.fromkeys(numbers):
        try:
            reviews.reject(project, number, comment=comment, by=by)
            rejected.append(number)
        except SkillsiteError as error:
            refused.append((number, error.message))
    return Outcome(tuple(rejected), tuple(refused))
