"""The order of skills by their relevance to a prompt, so that a catalog with a limit keeps the relevant ones."""

from collections.abc import Sequence

from registry.core.catalog.precedence import Candidate
from registry.core.catalog.visibility import BEST_SKILLS
from registry.core.routing.golden import QUERY_CHARS
from registry.core.routing.request import readable
from registry.services.routing import routing


def by_relevance(project_id: int, revision: int, text: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that fit the text, best first, and then the others in their order.

    A prompt may be longer than a question, so only its beginning is compared.
    """
    names = frozenset(candidate.name for candidate in candidates)
    routed = routing.route(
        project_id, revision, readable(text[:QUERY_CHARS]), allowed=names, limit=BEST_SKILLS, threshold=0, rerank=False
    )
    rank = {skill.candidate.name: place for place, skill in enumerate(routed.ranking)}
    return sorted(candidates, key=lambda candidate: rank.get(candidate.name, len(rank)))
