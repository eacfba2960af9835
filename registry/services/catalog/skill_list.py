"""The list of a project's skills: filtered, sorted and paginated in memory, with a fixed number of queries.

Everything except loads and drafts is from the catalog's view, so the list shows what agents get.
"""

import difflib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from django.conf import settings

from registry.core.catalog import prompt
from registry.core.catalog.precedence import BUNDLED, Candidate, EffectiveSkill
from registry.core.catalog.prompt import Catalog, CatalogLine
from registry.core.format import skill_md
from registry.models import Draft, Project, User
from registry.services.catalog import usage
from registry.services.catalog.catalog import View

PAGE, DAYS = 50, 30
MOST_TAGS = 100
SUGGESTED_TOKENS = 2_000

SOURCES = ("project", "imported", "bundled")
KINDS = (skill_md.KNOWLEDGE, skill_md.TOOL)
ON, OFF, CUSTOMISED, DRAFT = "on", "off", "hides", "draft"
STATES = {ON: "Available to agents", OFF: "Switched off", CUSTOMISED: "Customised", DRAFT: "Your drafts"}
BEST = "best"
SORTS = {BEST: "Best match", "name": "Name", "loads": "Most loaded", "changed": "Last change", "tokens": "Most tokens"}
_MOST_COMPARED = 2_000  # names and tags
_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Query:
    """Search words, filters and order. An empty filter matches everything. Without words, the best match is by name."""

    q: str = ""
    source: str = ""
    kind: str = ""
    tag: str = ""
    state: str = ""
    sort: str = BEST


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    skill: Candidate
    enabled: bool
    customised: bool
    draft: bool
    loads: tuple[int, ...]
    proposals: int = 0
    terms: tuple[str, ...] = ()  # words of the name and description that the search hit

    @property
    def total(self) -> int:
        return sum(self.loads)

    @property
    def long(self) -> bool:
        return self.skill.tokens > settings.LIMITS.soft_tokens


@dataclass(frozen=True, slots=True)
class Matches:
    """The matching skills in order. `of_source` counts matches by source, before the filter by source."""

    skills: tuple[EffectiveSkill, ...]
    of_source: dict[str, int]
    drafts: frozenset[str]

    @property
    def unnamed_draft(self) -> bool:
        """True if the user has a draft of a new skill without a name."""
        return "" in self.drafts


def find(project: Project, view: View, query: Query, *, user: User, found: Sequence[str] = ()) -> Matches:
    """Return the skills that pass the filters. `found` are the results of a search for the words, best first."""
    drafts = frozenset(Draft.objects.filter(project=project, user=user).values_list("name", flat=True))
    words, ranks = query.q.lower().split(), {name: rank for rank, name in enumerate(found)}
    matching = [
        skill
        for skill in view.skills
        if skill.winner is not None
        and (not query.kind or skill.winner.kind == query.kind)
        and (not query.tag or query.tag in skill.winner.tags)
        and (not query.state or _in_state(skill, query.state, drafts))
        and (not words or skill.name in ranks or (not skill.enabled and _has_any(skill.winner, words)))
    ]
    counts = Counter(skill.winner.source for skill in matching if skill.winner)
    chosen = [skill for skill in matching if not query.source or (skill.winner and skill.winner.source == query.source)]
    if words and query.sort == BEST:
        chosen.sort(key=lambda skill: ranks.get(skill.name, len(ranks)))
    return Matches(tuple(_sorted(project, chosen, query.sort)), dict(counts), drafts)


def _has_any(skill: Candidate, words: Sequence[str]) -> bool:
    """Return whether a skill that is switched off has one of the words. A search finds only what agents get."""
    text = " ".join((skill.name, skill.description, *skill.tags, *skill.triggers)).lower()
    return any(word in text for word in words)


def _in_state(skill: EffectiveSkill, state: str, drafts: frozenset[str]) -> bool:
    if state == DRAFT:
        return skill.name in drafts
    return skill.customised if state == CUSTOMISED else skill.enabled == (state == ON)


def _sorted(project: Project, skills: list[EffectiveSkill], sort: str) -> list[EffectiveSkill]:
    """Sort the skills. Equal skills stay sorted by name, as the view is."""
    if sort == "loads":
        totals = usage.totals(project.pk, days=DAYS)
        return sorted(skills, key=lambda skill: -totals.get(skill.name, 0))
    keys: dict[str, Callable[[Candidate], float]] = {
        "changed": lambda candidate: -(candidate.changed_at or _LONG_AGO).timestamp(),
        "tokens": lambda candidate: -candidate.tokens,
    }
    key = keys.get(sort)
    return sorted(skills, key=lambda skill: key(skill.winner) if skill.winner else 0) if key else skills


def rows(
    project: Project,
    skills: Sequence[EffectiveSkill],
    drafts: frozenset[str],
    waiting: Mapping[str, int],
    *,
    today: date,
    terms: Mapping[str, tuple[str, ...]] | None = None,
) -> list[Row]:
    """Return the rows of one page. `waiting` counts the undecided proposals by skill that the user may see."""
    by_day = usage.loads_by_day(project.pk, days=DAYS, skills=[skill.name for skill in skills])
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    return [
        Row(
            skill.name,
            skill.winner,
            skill.enabled,
            skill.customised,
            skill.name in drafts,
            tuple(by_day.get(skill.name, {}).get(day, 0) for day in days),
            waiting.get(skill.name, 0),
            (terms or {}).get(skill.name, ()),
        )
        for skill in skills
        if skill.winner is not None
    ]


def tags(view: View) -> list[str]:
    """Return the most used tags, sorted by name."""
    counts = Counter(tag for skill in view.skills if skill.winner for tag in skill.winner.tags)
    return sorted(tag for tag, _ in counts.most_common(MOST_TAGS))


def did_you_mean(view: View, words: str) -> str:
    """Return a name, a part of a name or a tag that is similar to the search words, or an empty string."""
    known: set[str] = set()
    for skill in view.skills:
        known |= {skill.name, *skill.name.split("-"), *(skill.winner.tags if skill.winner else ())}
    # Comparing is slow, and tags are not limited in number.
    nearest = difflib.get_close_matches(words.strip().lower()[:64], sorted(known)[:_MOST_COMPARED], n=1, cutoff=0.7)
    return nearest[0] if nearest else ""


@dataclass(frozen=True, slots=True)
class Cost:
    """Size of the catalog in every prompt, and its longest description."""

    skills: int
    tokens: int
    own: int
    bundled: int
    longest: str
    longest_chars: int

    @property
    def per_skill(self) -> int:
        return -(-self.tokens // self.skills) if self.skills else 0


@lru_cache(maxsize=32)
def cost(view: View) -> Cost:
    """Return the cost of a view. Cached by identity of the view."""
    served = view.served
    total = _tokens(served)
    own = [skill for skill in served if skill.source != BUNDLED]
    # The header and footer count as the project's own, if it has skills.
    of_own = _tokens(own) if own and len(own) < len(served) else total if own else 0
    longest = max(served, key=lambda skill: len(skill.description), default=None)
    return Cost(
        len(served), total, of_own, total - of_own,
        longest.name if longest else "", len(longest.description) if longest else 0,
    )  # fmt: skip


def _tokens(skills: Sequence[Candidate]) -> int:
    return prompt.cost(fitted(skills, "text", ""), "text", "tokens")


def fitted(skills: Sequence[Candidate], form: prompt.Form, budget: str) -> Catalog:
    """Return the catalog exactly as agents get it. An empty `budget` means no limit."""
    return prompt.fit(
        [CatalogLine(skill.name, skill.description) for skill in skills],
        budget=prompt.parse_budget(budget) if budget else None,
        form=form,
        limits=settings.LIMITS,
    )
