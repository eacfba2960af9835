"""Routing: which skills fit a question. Every API, protocol and page that routes or searches uses this module."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from registry.core.bundle import normalise
from registry.core.catalog import relevance
from registry.core.catalog.precedence import PROJECT, Candidate
from registry.core.errors import InvalidRequest
from registry.core.format import skill_md
from registry.core.routing import chain, confidence, fusion, question
from registry.core.routing.chain import Chained
from registry.core.routing.chain import LinkReport as LinkReport
from registry.core.routing.golden import QUERY_CHARS
from registry.core.routing.link import Rows
from registry.core.routing.request import MOST_MATCHES
from registry.lib.steps import OK, SKIPPED, UNAVAILABLE
from registry.services.routing import (
    analysed_skills,
    encoder,
    indexes,
    link_runs,
    reranking,
    routing_settings,
    searching,
)
from registry.services.routing.indexes import ProjectIndex

RANKED_EACH = 10  # skills in an answer of `rank_each`
_FEW_WORDS = 50  # of a question, while there is no index


@dataclass(frozen=True, slots=True)
class RoutedSkill:
    """A skill that fits. `confidence` is the probability that it is the right one.

    `link` found it best, for the `reason`. `by_link` has the score of each link.
    """

    candidate: Candidate
    title: str
    score: float
    confidence: float
    link: str
    reason: str
    by_link: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Routed:
    """The answer to a question.

    `matches` is empty if the confidence of the first skill in `ranking` is below the threshold. `threshold_from` is
    `request`, `project`, `learned` or `default`. `answered_by` names the link that was certain, so that no other ran.
    `signals` are the numbers that the confidence of the first skill in `ranking` follows from.
    """

    matches: tuple[RoutedSkill, ...]
    ranking: tuple[RoutedSkill, ...]
    links: tuple[LinkReport, ...]
    threshold: float
    threshold_from: str
    answered_by: str = ""
    signals: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A skill that a search found. `terms` are the words of its name and description that were hit."""

    name: str
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedSkill:
    """A skill as it would be after a change. Without `skill_md`, the skill would be gone."""

    name: str
    skill_md: bytes | None


def route(
    project_id: int,
    revision: int,
    query: str,
    *,
    allowed: frozenset[str] | None = None,
    limit: int = 5,
    kind: str = "",
    threshold: float | None = None,
    rerank: bool = True,
) -> Routed:
    """Return the skills that fit a question, best first. A threshold of 0 returns the whole ranking.

    With `rerank`, the model that the operator configured reorders the best ones.
    """
    check_query(query)
    if not 1 <= limit <= MOST_MATCHES:
        raise InvalidRequest(f"limit is a number from 1 to {MOST_MATCHES}; not {limit}.", field="limit")
    if threshold is not None and not 0 <= threshold <= 1:
        raise InvalidRequest(f"threshold is a number from 0 to 1; not {threshold}.", field="threshold")
    measure = _Measure.of(project_id, revision, threshold)
    found = indexes.of(project_id, revision)
    if found.half_built:
        return measure.answer(_by_relevance(found, query, allowed, kind)[:limit], _building(found))
    return _routed(measure, found, query, found.rows_for(allowed, kind), limit, rerank=rerank)


def rank_each(
    project_id: int,
    revision: int,
    queries: Sequence[str],
    *,
    change: Sequence[ChangedSkill] = (),
    threshold: float | None = None,
) -> list[Routed]:
    """Route each question of a golden set, as if `change` was published. A ranking has at most ten skills.

    The whole index is waited for, and no other server is asked to reorder the skills.
    """
    ranker = Ranker(project_id, revision, change, threshold=threshold)
    return [ranker.rank(query) for query in queries]


class Ranker:
    """Routes questions one by one, as `rank_each` does."""

    def __init__(
        self,
        project_id: int,
        revision: int,
        change: Sequence[ChangedSkill] = (),
        *,
        threshold: float | None = None,
    ) -> None:
        self._measure = _Measure.of(project_id, revision, threshold)
        self._before = self._found = indexes.of(project_id, revision, complete=True)
        if change:
            self._found = _changed(self._before, change)
        self._rows = self._found.rows_for(None)
        self._names = frozenset(normalise(each.name) for each in change)
        self._own = self._found.rows_for(self._names)

    def rank(self, query: str, known: Routed | None = None) -> Routed:
        """Route a question. `known` is the answer without the change. It is returned if the change cannot move it."""
        if known is not None and self._stays(query, known):
            return known
        return _routed(self._measure, self._found, query, self._rows, RANKED_EACH)

    def _stays(self, query: str, known: Routed) -> bool:
        """Return whether an answer stays as it is.

        The score of a skill depends on its own text and on how many skills have each word of the question. So nothing
        moves if these numbers are the same, and the changed skills neither were in the ranking nor get into it.
        """
        if any(skill.candidate.name in self._names for skill in known.ranking):
            return False
        before, after = (question.ask(query, each.index) for each in (self._before, self._found))
        if before.hits.counts.tolist() != after.hits.counts.tolist():
            return False
        alone = _routed(self._measure, self._found, query, self._own, 1)
        if not alone.ranking:
            return True
        full = len(known.ranking) == RANKED_EACH
        return full and not alone.answered_by and known.ranking[-1].score > alone.ranking[0].score


def search(project_id: int, revision: int, words: str, *, allowed: frozenset[str] | None = None) -> Sequence[Found]:
    """Return the skills that match search words, best first.

    Words may be plural, misspelt or unfinished, and a skill need not match all of them.
    """
    check_query(words)
    found = indexes.of(project_id, revision)
    if found.half_built:
        return [Found(skill.candidate.name) for skill in _by_relevance(found, words, allowed)[: searching.MOST_FOUND]]
    names = searching.find(found, words, found.rows_for(allowed))
    return [Found(name, terms) for name, terms in names]


def check_query(query: str) -> None:
    if len(query) > QUERY_CHARS:
        raise InvalidRequest(f"The query has {len(query):,} characters. {QUERY_CHARS:,} are allowed.", field="query")


@dataclass(frozen=True, slots=True)
class _Measure:
    """The threshold of an answer, its origin, and the calibration of the confidence."""

    threshold: float
    origin: str
    calibration: tuple[float, ...]

    @classmethod
    def of(cls, project_id: int, revision: int, threshold: float | None) -> "_Measure":
        settings = routing_settings.of(project_id, revision)
        return cls(*settings.threshold_for(threshold), settings.calibration or confidence.DEFAULT)

    def answer(
        self,
        ranking: tuple[RoutedSkill, ...],
        links: tuple[LinkReport, ...],
        answered_by: str = "",
        signals: tuple[float, ...] = (),
    ) -> Routed:
        sure = bool(ranking) and ranking[0].confidence >= self.threshold
        return Routed(ranking if sure else (), ranking, links, self.threshold, self.origin, answered_by, signals)


def _routed(
    measure: _Measure, found: ProjectIndex, query: str, rows: Rows, limit: int, *, rerank: bool = False
) -> Routed:
    asked = question.ask(query, found.index, found.encoder)
    if asked.query.empty and asked.exact_row is None:  # no word, or only words such as “the”
        return measure.answer((), tuple(LinkReport(link.name, 0.0, SKIPPED) for link in chain.LINKS))
    most = max(limit, chain.REORDERED)
    chained = link_runs.run(asked, rows, most=most)
    if rerank:
        chained = reranking.reorder(found, asked, chained, most=most)
    reports = tuple(_explained(report, found) for report in chained.reports)
    signals = fusion.signals(asked, chained.fused)
    ranking = _ranking(found, chained, signals, measure.calibration, limit)
    return measure.answer(ranking, reports, chained.answered_by, signals)


def _ranking(
    found: ProjectIndex, chained: Chained, signals: tuple[float, ...], calibration: tuple[float, ...], limit: int
) -> tuple[RoutedSkill, ...]:
    ranking = []
    scores = chained.fused.scores[:limit].tolist()
    sure = confidence.of_matches(signals, scores, calibration)
    for at, row in enumerate(chained.fused.rows[:limit].tolist()):
        name = found.index.names[row]
        by_link = {link: round(float(scores[at]), 6) for link, scores in chained.fused.by_link.items()}
        link, reason = _best_reason(chained, by_link, row)
        certain = bool(chained.answered_by) and at == 0
        title = found.index.entries[row].title or name.replace("-", " ").capitalize()
        score = round(scores[at], 6)
        ranking.append(
            RoutedSkill(found.candidates[name], title, score, 1.0 if certain else sure[at], link, reason, by_link)
        )
    return tuple(ranking)


def _best_reason(chained: Chained, by_link: Mapping[str, float], row: int) -> tuple[str, str]:
    """Return the link that found a skill best, and the reason of the best link that has one."""
    best = sorted(by_link, key=lambda link: -by_link[link])
    reasons = (chain.reason_for(chained.by_link[link], row) for link in best if by_link[link] > 0)
    return best[0] if best else "", next(filter(None, reasons), "")


def _explained(report: LinkReport, found: ProjectIndex) -> LinkReport:
    """Return the report with the reason why a link found less than it could."""
    if report.status == UNAVAILABLE and report.name == "meaning" and found.encoder is None:
        return replace(report, detail=encoder.unavailable())
    return replace(report, detail=found.progress) if found.progress and report.status == OK else report


def _changed(found: ProjectIndex, change: Sequence[ChangedSkill]) -> ProjectIndex:
    candidates, skills = [], []
    for changed in change:
        if changed.skill_md is not None:
            name = normalise(changed.name)
            candidates.append(_candidate(name, changed.skill_md))
            skills.append(analysed_skills.of_content(name, changed.skill_md, found.encoder))
    return found.changed(
        candidates, skills, [normalise(changed.name) for changed in change if changed.skill_md is None]
    )


def _candidate(name: str, content: bytes) -> Candidate:
    """Return the candidate that a changed SKILL.md would become. It has no version and no digest yet."""
    skill = skill_md.read(content, fallback_name=name)
    return Candidate(name, PROJECT, "", "", skill.description, skill.kind, tags=skill.tags, triggers=skill.triggers)


def _by_relevance(
    found: ProjectIndex, query: str, allowed: frozenset[str] | None, kind: str = ""
) -> tuple[RoutedSkill, ...]:
    """Rank by the words of names and descriptions alone, while the index is being built for the first time."""
    words = query.lower().split()[:_FEW_WORDS]
    scored = [
        (candidate, relevance.score(candidate, words))
        for candidate in found.view.served
        if (allowed is None or candidate.name in allowed) and (not kind or candidate.kind == kind)
    ]
    ordered = sorted((row for row in scored if row[1]), key=lambda row: (-row[1], row[0].name))
    reason = "Words of the question are in the name or the description."
    return tuple(
        RoutedSkill(
            candidate, candidate.name.replace("-", " ").capitalize(), float(score), score / (score + 10.0), "summary",
            reason, {"summary": float(score)},
        )
        for candidate, score in ordered[:MOST_MATCHES]
    )  # fmt: skip


def _building(found: ProjectIndex) -> tuple[LinkReport, ...]:
    return tuple(
        LinkReport(link.name, 0.0, OK if link.name == "summary" else UNAVAILABLE, found.progress)
        for link in chain.LINKS
    )
