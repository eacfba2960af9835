"""Impact of a change on routing: the golden set of the project before and after it, and the questions that move.

The outcomes before a change are cached by the project's revision, so that an editor asks only for those after it.
"""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from registry.core.bundle import normalise
from registry.core.routing import gate, metrics
from registry.core.routing.gate import Baseline, Limits, Verdict
from registry.core.routing.golden import Case
from registry.core.routing.metrics import Outcome, Report, StaleCase
from registry.lib.lru import LruCache
from registry.models import Project
from registry.services.catalog import built_in, catalog
from registry.services.routing import evaluations, golden_set, indexes, routing_settings
from registry.services.routing.changes import ChangedSkill
from registry.services.routing.ranking import Ranked, Ranker

LIVE_SECONDS = 0.12  # for a panel that follows what somebody types
PAGE_SECONDS = 1.0  # for a page that is opened once
_LEAST = 12  # cases that are routed, however little time there is
_NEAR = 3  # places of a ranking; a skill this near to the top may lose or win the question
_RIGHT = (metrics.CORRECT_TRIGGER, metrics.TRUE_NEGATIVE)


@dataclass(frozen=True, slots=True)
class Moved:
    """A question with another result after the change. `better` is None if it was wrong and is wrong in another way.

    `before` and `after` are the skills that an agent picks, or "" for none. The ranks are those of the expected skill,
    0 if it is not among the matches. `stale` is true if the question cannot be judged after the change.
    """

    query: str
    expected: tuple[str, ...]
    before: str
    after: str
    better: bool | None
    rank_before: int = 0
    rank_after: int = 0
    stale: bool = False


@dataclass(frozen=True, slots=True)
class SkillMovement:
    """The numbers of questions that a skill gained and lost."""

    name: str
    gained: int
    lost: int


@dataclass(frozen=True, slots=True)
class Impact:
    """The golden set before and after a change.

    `checked` of `total` cases were routed in the time that was given. The others count as if they did not move, and
    not at all if their result before the change is not known either. `needs_reason` is true if the project publishes
    the change only with a reason.
    """

    before: Report
    after: Report
    moved: tuple[Moved, ...]
    checked: int
    total: int
    verdict: Verdict
    verdict_before: Verdict
    needs_reason: bool = False
    blocking: bool = False

    @property
    def complete(self) -> bool:
        return self.checked == self.total

    @property
    def better(self) -> tuple[Moved, ...]:
        return tuple(each for each in self.moved if each.better)

    @property
    def worse(self) -> tuple[Moved, ...]:
        return tuple(each for each in self.moved if each.better is False)

    @property
    def skills(self) -> tuple[SkillMovement, ...]:
        """Return the skills that gained or lost questions, those that lost most first. Stale questions do not count."""
        changed = [each for each in self.moved if each.before != each.after and not each.stale]
        gained, lost = Counter(each.after for each in changed), Counter(each.before for each in changed)
        rows = [SkillMovement(name, gained[name], lost[name]) for name in {*gained, *lost} - {""}]
        return tuple(sorted(rows, key=lambda row: (row.gained - row.lost, row.name)))


@dataclass(frozen=True, slots=True)
class _Base:
    """The golden set at one revision. `ranked` and `outcomes` have the results so far, by the place of the case."""

    cases: tuple[Case, ...]
    served: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()  # names that agents do not get, whatever is published under them
    blocking: bool = False
    limits: Limits = field(default_factory=Limits)
    baseline: Baseline | None = None
    stale: dict[int, StaleCase] = field(default_factory=dict)
    ranked: dict[int, Ranked] = field(default_factory=dict)
    outcomes: dict[int, Outcome] = field(default_factory=dict)


_bases: LruCache[tuple[str, int, int], _Base] = LruCache(8)
_impacts: LruCache[tuple[str, int, int, str], Impact] = LruCache(64)


def of_change(
    project: Project,
    changes: Sequence[ChangedSkill],
    *,
    seconds: float | None = PAGE_SECONDS,
    revision: int | None = None,
) -> Impact:
    """Return what a change does to the golden set of a project. It costs one query if there is no golden set.

    Without `seconds`, every case is routed. Otherwise none is while the index is being built for the first time.
    `revision` is that of the project, if the caller read a newer one.
    """
    at = project.revision if revision is None else revision
    key = (built_in.snapshot().fingerprint, project.pk, at)
    base = _base(project, at, key)
    if not base.cases:
        return _NOTHING
    wanted = [replace(each, name=normalise(each.name)) for each in changes]
    wanted = [each for each in wanted if each.name not in base.off]
    if seconds is not None and indexes.of(project.pk, at).missing:
        return replace(_NOTHING, total=len(base.cases), blocking=base.blocking)
    digest = _digest(wanted)
    known = _impacts.get((*key, digest))
    if known is None:
        known = _measured(project.pk, at, base, wanted, None if seconds is None else time.monotonic() + seconds)
        if known.complete:
            _impacts.put((*key, digest), known)
    return known


def _digest(changes: Iterable[ChangedSkill]) -> str:
    digest = sha256()
    for each in changes:
        content = b"-" if each.skill_md is None else b"+" + sha256(each.skill_md).digest()
        digest.update(each.name.encode("utf-8", "surrogatepass") + b"\0" + content)
    return digest.hexdigest()


def _base(project: Project, revision: int, key: tuple[str, int, int]) -> _Base:
    found = _bases.get(key)
    if found is None:
        cases = golden_set.all_of(project.pk)
        found = _load(project, revision, cases) if cases else _Base(())
        _bases.put(key, found)
    return found


def _load(project: Project, revision: int, cases: tuple[Case, ...]) -> _Base:
    settings, skills = routing_settings.of(project.pk, revision), catalog.view(project.pk, revision).skills
    stale = {each.case: each for each in golden_set.split(project.pk, revision, cases)[1]}
    return _Base(
        cases,
        frozenset(skill.name for skill in skills if skill.served),
        frozenset(skill.name for skill in skills if not skill.enabled),
        settings.blocking,
        settings.limits,
        evaluations.baseline(project),
        {place: stale[case] for place, case in enumerate(cases) if case in stale},
    )


def _measured(
    project_id: int, revision: int, base: _Base, changes: Sequence[ChangedSkill], deadline: float | None
) -> Impact:
    """Route the cases before and after the change, those that it can move first, until the time is over."""
    names = frozenset(each.name for each in changes)
    served = (base.served - names) | {each.name for each in changes if each.skill_md is not None}
    order = sorted(range(len(base.cases)), key=lambda place: not _is_near(base, place, names))
    without, changed = Ranker(project_id, revision), Ranker(project_id, revision, changes)
    after: dict[int, Outcome] = {}
    gone: dict[int, StaleCase] = {}
    checked = 0
    for place in order:
        if checked >= _LEAST and deadline is not None and time.monotonic() >= deadline:
            break
        case = base.cases[place]
        if place not in base.stale and place not in base.outcomes:
            base.ranked[place] = without.rank(case.query)
            base.outcomes[place] = evaluations.judge(case, base.ranked[place])
        if missing := tuple(name for name in case.expected if name not in served):
            gone[place] = StaleCase(case, missing, " ".join(f"There is no skill {name}." for name in missing))
        else:
            after[place] = evaluations.judge(case, changed.rank(case.query, base.ranked.get(place)))
        checked += 1
    return _compared(base, after, gone, order[:checked])


def _is_near(base: _Base, place: int, names: frozenset[str]) -> bool:
    """Return whether a change of these skills is likely to move a case."""
    case, outcome = base.cases[place], base.outcomes.get(place)
    near = outcome.ranking[:_NEAR] if outcome else ()
    return not names.isdisjoint((*case.expected, *case.acceptable, *near))


def _compared(base: _Base, after: dict[int, Outcome], gone: dict[int, StaleCase], checked: Sequence[int]) -> Impact:
    then = dict(base.outcomes)  # other requests add to it
    known = then | after
    unchecked = then.keys() - set(checked)
    results = {place: known[place] for place in sorted(after.keys() | unchecked)}
    stale = {place: each for place, each in base.stale.items() if place not in results and place not in gone} | gone
    before = metrics.report([then[place] for place in sorted(then)], base.stale.values())
    reports = before, metrics.report(results.values(), [stale[place] for place in sorted(stale)])
    verdicts = [gate.verdict(report, base.limits, base.baseline) for report in reports]
    moves = (_moved(base.cases[place], then.get(place), after.get(place)) for place in sorted(checked))
    moved = sorted((each for each in moves if each), key=lambda each: (each.better is not False, each.better is None))
    impact = Impact(
        *reports, tuple(moved), len(checked), len(base.cases), verdicts[1], verdicts[0], blocking=base.blocking
    )
    return replace(impact, needs_reason=base.blocking and _fails(impact))


def _fails(impact: Impact) -> bool:
    """Return whether the gate refuses a change: it fails after it, and passed before or more got worse than better.

    A project that fails already can still be mended in steps, as long as no step makes it worse.
    """
    if impact.verdict.passed is not False:
        return False
    return impact.verdict_before.passed is not False or len(impact.worse) > len(impact.better)


def _moved(case: Case, before: Outcome | None, after: Outcome | None) -> Moved | None:
    """Return the movement of a case, if there is one. An outcome is None if the case cannot be judged."""
    if before is None and after is None:
        return None
    if before and after and (before.picked, before.rank) == (after.picked, after.rank):
        return None
    then, now = _grade(before), _grade(after)
    return Moved(
        case.query,
        case.expected,
        before.picked if before else "",
        after.picked if after else "",
        None if now == then else now > then,
        before.rank if before else 0,
        after.rank if after else 0,
        stale=after is None,
    )


def _grade(outcome: Outcome | None) -> tuple[int, int]:
    """Return a value that is higher for a better result. A case that cannot be judged is like a missed one."""
    if outcome is None:
        return 0, 0
    right = 2 if outcome.verdict in _RIGHT else 1 if outcome.verdict == metrics.ACCEPTABLE else 0
    return right, metrics.reciprocal(outcome.rank)


_EMPTY = metrics.report(())
_NONE = gate.verdict(_EMPTY, Limits())
_NOTHING = Impact(_EMPTY, _EMPTY, (), 0, 0, _NONE, _NONE)
