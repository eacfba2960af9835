"""Routing: which skills fit a question. Every API, protocol and page that routes or searches uses this module."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from registry.core.catalog import relevance
from registry.core.catalog.precedence import Candidate
from registry.core.errors import InvalidRequest
from registry.core.routing import chain, confidence, fusion, question
from registry.core.routing.chain import Chained
from registry.core.routing.chain import LinkReport as LinkReport
from registry.core.routing.golden import QUERY_CHARS
from registry.core.routing.link import Rows
from registry.core.routing.request import MOST_MATCHES
from registry.lib.steps import OK, SKIPPED, UNAVAILABLE
from registry.services.routing import (
    encoder,
    indexes,
    link_runs,
    reranking,
    routing_settings,
    searching,
)
from registry.services.routing.indexes import ProjectIndex

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
    one of `routing_settings.ORIGINS`. `answered_by` names the link that was certain, so that no other ran.
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
        raise InvalidRequest(f"limit is a number from 1 to {MOST_MATCHES:,}; not {limit:,}.", field="limit")
    if threshold is not None and not 0 <= threshold <= 1:
        raise InvalidRequest(f"threshold is a number from 0 to 1; not {threshold}.", field="threshold")
    measure = Measure.of(project_id, revision, threshold)
    found = indexes.of(project_id, revision)
    if found.half_built:
        return measure.answer(_by_relevance(found, query, allowed, kind)[:limit], _building(found))
    return _routed(measure, found, query, found.rows_for(allowed, kind), limit, rerank=rerank)


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
class Measure:
    """The threshold of an answer, its origin, and the calibration of the confidence."""

    threshold: float
    origin: str
    calibration: tuple[float, ...]

    @classmethod
    def of(cls, project_id: int, revision: int, threshold: float | None) -> "Measure":
        settings = routing_settings.of(project_id, revision)
        return cls(*settings.threshold_for(threshold), settings.calibration or confidence.DEFAULT)

    def confidences(self, chained: Chained, signals: tuple[float, ...], most: int) -> list[float]:
        """Return the confidence of each of the first matches. If a link was certain, only the first is right."""
        scores = chained.fused.scores[:most].tolist()
        if chained.answered_by:
            return [float(place == 0) for place in range(len(scores))]
        return list(confidence.of_matches(signals, scores, self.calibration))

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
    measure: Measure, found: ProjectIndex, query: str, rows: Rows, limit: int, *, rerank: bool = False
) -> Routed:
    asked = question.ask(query, found.index, found.encoder)
    if asked.says_nothing:
        return measure.answer((), tuple(LinkReport(link.name, 0.0, SKIPPED) for link in chain.LINKS))
    chained = link_runs.run(asked, rows, most=ranked_rows(limit))
    if rerank:
        chained = reranking.reorder(found, asked, chained, most=ranked_rows(limit))
    reports = tuple(_explained(report, found) for report in chained.reports)
    signals = fusion.signals(asked, chained.fused)
    confidences = measure.confidences(chained, signals, limit)
    ranking = tuple(_skill(found, chained, at, sure) for at, sure in enumerate(confidences))
    return measure.answer(ranking, reports, chained.answered_by, signals)


def ranked_rows(limit: int) -> int:
    """Return how many rows a chain ranks for an answer of `limit` skills, so that the last link can reorder them."""
    return max(limit, chain.REORDERED)


def _skill(found: ProjectIndex, chained: Chained, at: int, sure: float) -> RoutedSkill:
    row = int(chained.fused.rows[at])
    name = found.index.names[row]
    by_link = {link: round(float(scores[at]), 6) for link, scores in chained.fused.by_link.items()}
    link, reason = _best_reason(chained, by_link, row)
    title = found.index.entries[row].title or name.replace("-", " ").capitalize()
    score = round(float(chained.fused.scores[at]), 6)
    return RoutedSkill(found.candidates[name], title, score, sure, link, reason, by_link)


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
