"""The search box: the routing chain, for words as somebody types them."""

from registry.core.routing import spelling, words
from registry.core.routing.link import Rows
from registry.core.routing.links.meaning import Meaning
from registry.core.routing.links.names import EXACT
from registry.core.routing.question import Question
from registry.services.routing import link_runs
from registry.services.routing.indexes import ProjectIndex

MOST_FOUND = 100
_SHARE_OF_BEST = 0.25  # a skill with a smaller score than this share of the best one is left out


def find(found: ProjectIndex, text: str, rows: Rows) -> list[tuple[str, tuple[str, ...]]]:
    """Return the names of skills, best first, with the words of their name and description that were hit.

    A skill must have one of the words. Its meaning alone is no reason here, because every text means a little of
    everything, and people expect nothing for a word that is nowhere.
    """
    query = spelling.widened(words.query(text), found.index)
    asked = Question(query, found.index, found.encoder)
    if asked.says_nothing:
        return []
    fused = link_runs.run(asked, rows, most=MOST_FOUND, alone=False).fused
    named = fused.rows == -1 if asked.exact_row is None else fused.rows == asked.exact_row
    best = float((fused.scores - EXACT * named).max(initial=0.0))
    by_words = fused.scores - fused.by_link.get(Meaning.name, 0.0) > 0
    kept = fused.rows[by_words & (fused.scores >= _SHARE_OF_BEST * best)]
    stems = frozenset(term.stem for term in query.terms)
    return [(name, _hits(found, name, stems)) for name in (found.index.names[row] for row in kept.tolist())]


def _hits(found: ProjectIndex, name: str, stems: frozenset[str]) -> tuple[str, ...]:
    return tuple(words.found_in(f"{name} {found.candidates[name].description}", stems))
