"""Routing: which skills fit a question. Every API, protocol and page that routes or searches uses this module."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from registry.core.bundle import normalise
from registry.core.catalog import relevance
from registry.core.catalog.precedence import PROJECT, Candidate
from registry.core.errors import InvalidRequest
from registry.core.format import skill_md
from registry.core.routing.golden import QUERY_CHARS
from registry.core.routing.request import MOST_MATCHES
from registry.services.catalog import catalog
from registry.services.routing import routing_settings

RANKED_EACH = 10  # skills in an answer of `rank_each`


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
) -> Routed:
    """Return the skills that fit a question, best first. A threshold of 0 returns the whole ranking."""
    check_query(query)
    if not 1 <= limit <= MOST_MATCHES:
        raise InvalidRequest(f"limit is a number from 1 to {MOST_MATCHES}; not {limit}.", field="limit")
    if threshold is not None and not 0 <= threshold <= 1:
        raise InvalidRequest(f"threshold is a number from 0 to 1; not {threshold}.", field="threshold")
    used, origin = routing_settings.of(project_id, revision).threshold_for(threshold)
    served = catalog.view(project_id, revision, allowed=allowed).served
    return _answer(_ranked(served, query, kind)[:limit], used, origin)


def search(project_id: int, revision: int, words: str, *, allowed: frozenset[str] | None = None) -> Sequence[Found]:
    """Return the skills that match search words, best first. A skill need not match every word."""
    check_query(words)
    ranking = _ranked(catalog.view(project_id, revision, allowed=allowed).served, words)
    terms = tuple(dict.fromkeys(words.lower().split()))
    return [
        Found(skill.candidate.name, tuple(word for word in terms if relevance.score(skill.candidate, [word])))
        for skill in ranking
    ]


def rank_each(
    project_id: int,
    revision: int,
    queries: Sequence[str],
    *,
    change: Sequence[ChangedSkill] = (),
    threshold: float | None = None,
) -> list[Routed]:
    """Route each question of a golden set, as if `change` was published. A ranking has at most ten skills."""
    used, origin = routing_settings.of(project_id, revision).threshold_for(threshold)
    served = _changed(catalog.view(project_id, revision).served, change)
    return [_answer(_ranked(served, query)[:RANKED_EACH], used, origin) for query in queries]


def check_query(query: str) -> None:
    if len(query) > QUERY_CHARS:
        raise InvalidRequest(f"The query has {len(query):,} characters. {QUERY_CHARS:,} are allowed.", field="query")


def _answer(ranking: tuple[RoutedSkill, ...], threshold: float, origin: str) -> Routed:
    certain = bool(ranking) and ranking[0].confidence >= threshold
    signals = (ranking[0].score,) if ranking else ()
    links = (LinkReport("summary", 0.0, "ok"),)
    return Routed(ranking if certain else (), ranking, links, threshold, origin, signals=signals)


def _changed(served: Iterable[Candidate], change: Sequence[ChangedSkill]) -> tuple[Candidate, ...]:
    known = {candidate.name: candidate for candidate in served}
    for changed in change:
        known.pop(normalise(changed.name), None)
        if changed.skill_md is not None:
            candidate = _candidate(changed.name, changed.skill_md)
            known[candidate.name] = candidate
    return tuple(known[name] for name in sorted(known))


def _candidate(name: str, content: bytes) -> Candidate:
    """Return the candidate that a changed SKILL.md would become. It has no version and no digest yet."""
    skill = skill_md.read(content, fallback_name=name)
    return Candidate(
        normalise(name), PROJECT, "", "", skill.description, skill.kind, tags=skill.tags, triggers=skill.triggers
    )


def _ranked(served: Iterable[Candidate], query: str, kind: str = "") -> tuple[RoutedSkill, ...]:
    words = query.lower().split()
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
