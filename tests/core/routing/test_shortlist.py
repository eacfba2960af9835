"""The shortlist of a large index changes what a question costs, and not what it finds."""

import random
import re
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from registry.core.routing import analysis, question, question_chain, shortlist, skill_text
from registry.core.routing.index import SKETCH, Index
from registry.core.routing.link import Rows
from registry.core.routing.question import SHORTLIST
from registry.core.routing.vectors import Encoder, Vectors, normalised
from registry.lib.steps import StepRunner
from tests.core.routing.samples import Hashed, skill

STARTS, ENDS = ("inv", "ref", "dep", "kub", "let", "csv", "pod"), ("oice", "und", "loy", "ter", "ort")
WORDS = [f"{start}{end}" for start in STARTS for end in ENDS]
QUERIES = ["invoice refund", "kubter please", "write a letloy for the csvort and the podund", "depoice and depund"]
MOST = 20

encoder = Hashed(4 * SKETCH)  # as in the shipped table, so that the estimate reads a part of the dimensions
runner = StepRunner(4)


@cache
def large() -> Index:
    chance = random.Random(3)
    names = [f"{chance.choice(WORDS)}-{number}" for number in range(3 * SHORTLIST)]
    return Index.of([skill(name, chance.choices(WORDS, k=12), encoder) for name in names])


def ranked(
    query: str, rows: Rows, *, shortened: bool, index: Index | None = None, encoder: Encoder = encoder
) -> list[tuple[str, float]]:
    asked = question.ask(query, index or large(), encoder)
    most = MOST if shortened else len(rows)  # of so many rows, none is left out
    fused = question_chain.run(asked, rows, most=most, runner=runner, seconds=60.0).fused
    names = [asked.index.names[row] for row in fused.rows.tolist()]
    return list(zip(names, fused.scores.tolist(), strict=True))[:MOST]


@pytest.mark.parametrize("query", QUERIES)
def test_the_best_skills_are_those_of_the_whole_index(query: str) -> None:
    found = ranked(query, large().rows, shortened=True)
    assert found == ranked(query, large().rows, shortened=False)
    assert len(found) == MOST


@pytest.mark.parametrize("query", QUERIES)
def test_a_caller_who_sees_fewer_skills_gets_the_same_scores(query: str) -> None:
    everything = ranked(query, large().rows, shortened=True)
    scoped = ranked(query, large().rows[::2], shortened=True)
    seen = {large().names[row] for row in large().rows[::2].tolist()}
    common = [row for row in everything if row[0] in seen]
    assert common == scoped[: len(common)]
    assert 0 < len(common) < len(scoped) == MOST


class Halves:
    """An encoder for which the first word of a text says where its vector points, before and behind the sketch."""

    name, version, dim = "halves", "1", 2 * SKETCH
    _DIRECTIONS = {"question": (1, 1), "estimated": (1, -1), "meant": (0, 1)}

    def encode(self, texts: Sequence[str]) -> Vectors:
        halves = (self._DIRECTIONS[re.split(r"\W", text)[0]] for text in texts)
        return normalised(np.array([[before] * SKETCH + [behind] * SKETCH for before, behind in halves], np.float32))


def test_the_estimate_can_leave_out_the_best_skill_of_a_caller_who_sees_fewer() -> None:
    """Vectors that differ only behind the sketch: the limit of the estimate, as decision 19 describes it."""
    halves = Halves()
    texts = [skill_text.of_parts(f"estimated-{number}", "", "", "refund") for number in range(SHORTLIST)]
    skills = [*texts, skill_text.of_parts("meant", "", "", "refund")]
    index = Index.of([analysis.analyse(text, halves) for text in skills])
    seen = index.rows[-2:]
    assert [index.names[row] for row in seen.tolist()] == ["estimated-99", "meant"]
    everything = ranked("question refund", index.rows, shortened=True, index=index, encoder=halves)
    scoped = ranked("question refund", seen, shortened=True, index=index, encoder=halves)
    assert [name for name, _ in everything if name == "meant"] == []
    assert [name for name, _ in scoped] == ["meant", "estimated-99"]


def test_links_get_the_shortlist() -> None:
    asked = question.ask(QUERIES[0], large(), encoder)
    rows = shortlist.of(asked, large().rows, MOST)
    assert len(rows) == SHORTLIST
    assert (np.diff(rows) > 0).all()
    assert set(rows.tolist()) < set(large().rows.tolist())


def test_a_longer_answer_has_a_longer_shortlist() -> None:
    asked = question.ask(QUERIES[0], large(), encoder)
    assert len(shortlist.of(asked, large().rows, SHORTLIST)) == 2 * SHORTLIST
    assert len(shortlist.of(asked, large().rows, 1_000)) == len(large())


def test_few_rows_are_not_shortened() -> None:
    asked = question.ask(QUERIES[0], large(), encoder)
    few = large().rows[:SHORTLIST]
    assert shortlist.of(asked, few, MOST) is few


def test_rows_that_are_no_longer_in_use_are_not_on_it() -> None:
    best = ranked(QUERIES[0], large().rows, shortened=True)[0][0]
    without = large().updated([], [best])
    names = [name for name, _ in ranked(QUERIES[0], without.rows, shortened=True, index=without)]
    assert best not in names
    assert len(names) == MOST


def test_a_skill_that_is_named_exactly_is_on_it() -> None:
    """Its text says nothing about its name, and those of many others do."""
    others = [skill(f"refund-{number}", ["refund"] * 9) for number in range(2 * SHORTLIST)]
    index = Index.of([*others, skill("the-refund-of-a-parcel-from-abroad", ["zebra"])])
    asked = question.ask("the refund of a parcel from abroad", index)
    named = index.row_of["the-refund-of-a-parcel-from-abroad"]
    assert named in shortlist.of(asked, index.rows, 1).tolist()
    assert named not in shortlist.of(asked, index.rows[index.rows != named], 1).tolist()


def test_of_equal_skills_the_first_names_are_on_it() -> None:
    names = [f"skill-{number:03}" for number in range(2 * SHORTLIST)]
    index = Index.of([skill(name, ["refund"]) for name in reversed(names)])
    asked = question.ask("refund", index)
    assert [index.names[row] for row in shortlist.of(asked, index.rows, 1).tolist()] == names[:SHORTLIST]
