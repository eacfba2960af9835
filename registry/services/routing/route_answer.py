"""The answer to a question as JSON, for the API and for MCP."""

from typing import Annotated, TypedDict

from registry.core.routing.chain import STATUSES
from registry.lib.json_types import OneOf
from registry.services.routing.routing import Routed, RoutedSkill
from registry.services.routing.routing_settings import ORIGINS


class MatchShape(TypedDict):
    name: str
    title: str
    score: Annotated[float, "Comparable within one answer only."]
    confidence: Annotated[float, "The probability that this is the right skill, from 0 to 1."]
    link: Annotated[str, "The link that found it best."]
    reason: str
    source: str
    version: str
    digest: str
    kind: str


class LinkShape(TypedDict):
    name: str
    ms: float
    status: Annotated[str, OneOf(STATUSES)]
    detail: Annotated[str, "Why the link could not run, or knows only some skills. Empty if there is nothing to add."]


class RouteShape(TypedDict):
    matches: list[MatchShape]
    links: Annotated[list[LinkShape], "The links of the chain in their order, also those that could not run."]
    threshold: Annotated[float, "The confidence that the first match needs. Below it, there are no matches."]
    threshold_from: Annotated[str, OneOf(ORIGINS)]
    answered_by: Annotated[str, "The link that was certain, so that no other ran. Empty if all links ran."]
    none_of_these: Annotated[bool, "True if no skill fits. Do not use one then."]


def as_json(routed: Routed) -> RouteShape:
    return {
        "matches": [_match(skill) for skill in routed.matches],
        "links": [
            {"name": link.name, "ms": round(link.ms, 3), "status": link.status, "detail": link.detail}
            for link in routed.links
        ],
        "threshold": round(routed.threshold, 4),
        "threshold_from": routed.threshold_from,
        "answered_by": routed.answered_by,
        "none_of_these": not routed.matches,
    }


def _match(skill: RoutedSkill) -> MatchShape:
    candidate = skill.candidate
    return {
        "name": candidate.name,
        "title": skill.title,
        "score": round(skill.score, 6),
        "confidence": round(skill.confidence, 4),
        "link": skill.link,
        "reason": skill.reason,
        "source": candidate.source,
        "version": candidate.version,
        "digest": candidate.digest,
        "kind": candidate.kind,
    }
