"""Rankings for test questions: what an evaluation needs of an answer, also as if a change was published."""

from collections.abc import Sequence
from dataclasses import dataclass

from registry.core.bundle import normalise
from registry.core.routing import fusion, question
from registry.core.routing.link import Rows
from registry.core.routing.links import meaning
from registry.core.routing.question import Question
from registry.services.routing import changes, indexes, link_runs
from registry.services.routing.changes import ChangedSkill
from registry.services.routing.indexes import ProjectIndex
from registry.services.routing.routing import Measure, ranked_rows

RANKED_EACH = 10  # skills in a ranking


@dataclass(frozen=True, slots=True)
class Ranked:
    """The ranking for a test question, as `routing.Routed` has it, without what only people read.

    `scores` has one for each of `names`, `confidence` is that of the first. `found` is false if it is below the
    threshold. `estimated` has the names on the shortlist, and those whose phrases were compared.
    """

    names: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    confidence: float = 0.0
    found: bool = False
    answered_by: str = ""
    signals: tuple[float, ...] = ()
    estimated: tuple[tuple[str, ...], ...] = ()


def rank_each(
    project_id: int,
    revision: int,
    queries: Sequence[str],
    *,
    change: Sequence[ChangedSkill] = (),
    threshold: float | None = None,
) -> list[Ranked]:
    """Rank skills for each question of a golden set, as if `change` was published. A ranking has at most ten skills.

    The whole index is waited for, and no other server is asked to reorder the skills.
    """
    ranker = Ranker(project_id, revision, change, threshold=threshold)
    return [ranker.rank(query) for query in queries]


class Ranker:
    """Ranks the skills for questions one by one, as `rank_each` does."""

    def __init__(
        self,
        project_id: int,
        revision: int,
        change: Sequence[ChangedSkill] = (),
        *,
        threshold: float | None = None,
    ) -> None:
        self._measure = Measure.of(project_id, revision, threshold)
        self._before = self._found = indexes.of(project_id, revision, complete=True)
        if change:
            self._found = changes.applied(self._before, change)
        self._rows = self._found.rows_for(None)
        self._names = frozenset(normalise(each.name) for each in change)
        self._own = self._found.rows_for(self._names)

    def rank(self, query: str, known: Ranked | None = None) -> Ranked:
        """Rank skills for a question. `known` is the ranking without the change, returned if that cannot move it."""
        asked = question.ask(query, self._found.index, self._found.encoder)
        if known is not None and self._stays(asked, known):
            return known
        return _ranked(self._measure, self._found, asked, self._rows, RANKED_EACH)

    def _stays(self, asked: Question, known: Ranked) -> bool:
        """Return whether an answer stays as it is.

        The score of a skill depends on its own text, on what others say about it, on how many skills have each word of
        the question, and in a large index on whether the estimate selects it. So nothing moves if all this is the same
        for the others, and the changed skills neither were in the ranking nor get into it.
        """
        if not self._names.isdisjoint(known.names):
            return False
        before = Question(asked.query, self._before.index)
        if before.hits.counts.tolist() != asked.hits.counts.tolist():
            return False
        if self._anchors(before) != self._anchors(asked):
            return False
        if self._unchanged(known.estimated) != self._unchanged(_estimated(asked)):
            return False
        alone = _ranked(self._measure, self._found, asked, self._own, 1)
        if not alone.names:
            return True
        full = len(known.names) == RANKED_EACH
        return full and not alone.answered_by and known.scores[-1] > alone.scores[0]

    def _anchors(self, asked: Question) -> dict[tuple[int, str], float]:
        """Return what other skills say about the unchanged ones, in words of the question."""
        anchors = asked.index.anchors(asked.hashes)
        return {key: weight for key, weight in anchors.items() if key[1] not in self._names}

    def _unchanged(self, estimated: Sequence[Sequence[str]]) -> list[list[str]]:
        return [[name for name in names if name not in self._names] for names in estimated]


def _ranked(measure: Measure, found: ProjectIndex, asked: Question, rows: Rows, limit: int) -> Ranked:
    """Rank skills as `routing.route` does."""
    if asked.says_nothing:
        return Ranked()
    chained = link_runs.run(asked, rows, most=ranked_rows(limit))
    names = tuple(found.index.names[row] for row in chained.fused.rows[:limit].tolist())
    if not names:
        return Ranked()
    signals = fusion.signals(asked, chained.fused)
    first = measure.confidences(chained, signals, 1)[0]
    scores = tuple(round(score, 6) for score in chained.fused.scores[:limit].tolist())
    estimated = _estimated(asked)
    return Ranked(names, scores, first, first >= measure.threshold, chained.answered_by, signals, estimated)


def _estimated(asked: Question) -> tuple[tuple[str, ...], ...]:
    """Return the names that the estimate selects, see Ranked. Empty if it selects all, or without vectors is exact."""
    if not asked.has_vectors or len(asked.index) <= meaning.PHRASE_ROWS:
        return ()
    selected = asked.best, meaning.phrase_rows(asked)
    return tuple(tuple(sorted(asked.index.names[row] for row in rows.tolist())) for rows in selected)
