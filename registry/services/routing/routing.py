"""Routing: which skills fit a question. Every API, protocol and page that routes or searches uses this module."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from registry.core.catalog import relevance
from registry.core.catalog.precedence import Candidate
from registry.core.errors import InvalidRequest
from registry.core.routing.golden import QUERY_CHARS
from registry.services.catalog import catalog
from registry.services.routing import routing_settings

MOST_MATCHES = 50


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
class LinkReport:
    """Report one link of the chain. `status` is `ok`, `skipped`, `unavailable`, `failed`, `timeout` or `invalid`."""

    name: str
    ms: float
    status: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Routed:
    """The answer to a question.

    `matches` is empty if the confidence of the first skill in `ranking` is below the threshold. `threshold_from` is
    `request`, `project`, `learned` or `default`. `answered_by` names the link that was certain, so that no other ran.
    """

    matches: tuple[RoutedSkill, ...]
    ranking: tuple[RoutedSkill, ...]
    links: tuple[LinkReport, ...]
    threshold: float
    threshold_from: str
    answered_by: str = ""


def route(
    project_id: int,
    revision: int,
    query: str,
    *,
    allowed: frozenset[str] | None = None,
    limit: int = 5,
    kind: str = "",
    threshold: float | None = None,
) -> Routed:
    """Return the skills that fit a question, best first. A threshold of 0 returns the whole ranking."""
    check_query(query)
    if not 1 <= limit <= MOST_MATCHES:
        raise InvalidRequest(f"limit is a number from 1 to {MOST_MATCHES}; not {limit}.", field="limit")
    if threshold is not None and not 0 <= threshold <= 1:
        raise InvalidRequest(f"threshold is a number from 0 to 1; not {threshold}.", field="threshold")
    used, origin = routing_settings.of(project_id, revision).threshold_for(threshold)
    ranking = _ranked(project_id, revision, query, allowed, kind)[:limit]
    certain = bool(ranking) and ranking[0].confidence >= used
    links = (LinkReport("summary", 0.0, "ok"),)
    return Routed(ranking if certain else (), ranking, links, used, origin)


def search(view: catalog.View, words: str) -> Sequence[str]:
    """Return the names of the skills that match search words, best first."""
    found = catalog.matching((skill.winner for skill in view.skills if skill.winner), q=words)
    return [candidate.name for candidate in found]


def check_query(query: str) -> None:
    if len(query) > QUERY_CHARS:
        raise InvalidRequest(f"The query has {len(query):,} characters. {QUERY_CHARS:,} are allowed.", field="query")


def _ranked(
    project_id: int, revision: int, query: str, allowed: frozenset[str] | None, kind: str
) -> tuple[RoutedSkill, ...]:
    words = query.lower().split()
    served = catalog.view(project_id, revision, allowed=allowed).served
    scored = [
        (candidate, relevance.score(candidate, words))
        for candidate in served
        if words and (not kind or candidate.kind == kind)
    ]
    ordered = sorted((row for row in scored if row[1]), key=lambda row: (-row[1], row[0].name))
    return tuple(
        RoutedSkill(
            candidate,
            candidate.name.replace("-", " ").capitalize(),
            float(score),
            score / (score + 10),
            "summary",
            "Words of the question are in the name or the description.",
            {"summary": float(score)},
        )
        for candidate, score in ordered
    )
