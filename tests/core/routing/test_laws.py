"""Laws of routing: the order is total and deterministic, scoping commutes with it, and strangers change nothing.

Small indexes have every shape. Large ones have more skills than a shortlist, which is chosen by a part of the vectors.
"""

import random
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.routing import chain, question, question_chain
from registry.core.routing.index import SKETCH, Index
from registry.core.routing.link import Rows
from registry.core.routing.links import meaning
from registry.core.routing.question import SHORTLIST
from registry.core.routing.vectors import Encoder
from registry.lib.steps import StepRunner
from tests import effort
from tests.core.routing.samples import Hashed, skill

WORDS = (
    "invoice",
    "customer",
    "refund",
    "deploy",
    "kubernetes",
    "pod",
    "letter",
    "write",
    "report",
    "check",
    "data",
    "csv",
)
LARGE = 3 * SHORTLIST
DIM = 4 * SKETCH  # of vectors in a large index, as in the shipped table
MOST = 20
OTHER_WORDS = ("zebra", "violin", "glacier", "orchid", "lantern", "walnut")

runner = StepRunner(4)


def ranked(
    index: Index, query: str, rows: Rows | None = None, encoder: Encoder | None = None
) -> list[tuple[str, float]]:
    asked = question.ask(query, index, encoder)
    asked_about = index.rows if rows is None else rows
    chained = question_chain.run(asked, asked_about, most=MOST, runner=runner, seconds=60.0)
    fused = chained.fused
    return [(index.names[row], score) for row, score in zip(fused.rows.tolist(), fused.scores.tolist(), strict=True)]


@cache
def large(seed: int, with_vectors: bool) -> Index:
    """Return an index of more skills than a shortlist, which share words with the questions and with each other."""
    chance, encoder = random.Random(seed), Hashed(DIM) if with_vectors else None
    names = [f"{chance.choice(WORDS)}-{number}" for number in range(LARGE)]
    return Index.of([skill(name, chance.choices(WORDS, k=chance.randint(3, 12)), encoder) for name in names])


texts = st.lists(st.sampled_from(WORDS), min_size=3, max_size=12)
skills = st.dictionaries(
    st.sampled_from([f"{a}-{b}" for a in WORDS[:5] for b in WORDS[5:9]]), texts, min_size=1, max_size=8
)
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@settings(max_examples=effort.examples(25))
@given(skills, queries, st.sets(st.integers(0, 7)), st.booleans(), st.sampled_from([1, 2, 3, meaning.PHRASE_ROWS]))
def test_scoping_commutes_with_routing(
    texts_by_name: dict[str, list[str]], query: str, chosen: set[int], with_vectors: bool, phrase_rows: int
) -> None:
    """A caller who may see fewer skills gets the ranking of all, also of more than have their phrases compared."""
    encoder = Hashed() if with_vectors else None
    index = Index.of([skill(name, words, encoder) for name, words in texts_by_name.items()])
    scope = {name for at, name in enumerate(sorted(texts_by_name)) if at in chosen}
    rows = np.array(sorted(index.row_of[name] for name in scope), np.intp)
    exact = query.replace(" ", "-")
    if exact in texts_by_name and exact not in scope:
        return  # the name link was certain of a skill that this caller does not see
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meaning, "PHRASE_ROWS", phrase_rows)
        everything = ranked(index, query, encoder=encoder)
        scoped = ranked(index, query, rows, encoder)
    assert scoped == [row for row in everything if row[0] in scope]


@settings(max_examples=effort.examples(25), deadline=None)
@given(st.integers(0, 1), queries, st.booleans(), st.integers(1, LARGE), st.randoms(use_true_random=False))
def test_scoping_a_large_index_changes_no_score_and_no_order(
    seed: int, query: str, with_vectors: bool, seen: int, chance: random.Random
) -> None:
    """Skills that are in both answers have the same scores in the same order. Decision 19 says what can differ."""
    index, encoder = large(seed, with_vectors), Hashed(DIM) if with_vectors else None
    rows = np.array(sorted(chance.sample(range(LARGE), seen)), np.intp)
    visible = {index.names[row] for row in rows.tolist()}
    everything = [row for row in ranked(index, query, encoder=encoder) if row[0] in visible]
    scoped = ranked(index, query, rows, encoder)
    assert {name for name, _ in scoped} <= visible
    both = {name for name, _ in everything} & {name for name, _ in scoped}
    assert [row for row in scoped if row[0] in both] == [row for row in everything if row[0] in both]
    if not with_vectors:  # the estimate is the score
        assert scoped[: len(everything)] == everything


@settings(max_examples=effort.examples(25))
@given(skills, queries, st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_how_the_index_was_built(
    texts_by_name: dict[str, list[str]], query: str, chance: st.DataObject
) -> None:
    """An index that was updated skill by skill, in any order and with skills that are gone, ranks like a new one."""
    encoder = Hashed()
    built = Index.of([skill(name, words, encoder) for name, words in texts_by_name.items()])
    names = list(texts_by_name)
    chance.shuffle(names)  # type: ignore[attr-defined]
    grown = Index.of([skill("gone", ["refund", "pod"], encoder), skill(names[0], ["other"], encoder)])
    for name in names:
        grown = grown.updated([skill(name, texts_by_name[name], encoder)])
    grown = grown.updated([], ["gone"])
    found = ranked(grown, query, encoder=encoder)
    assert found == ranked(built, query, encoder=encoder)
    assert found == sorted(found, key=lambda row: (-row[1], row[0]))
    assert len({name for name, _ in found}) == len(found)


@settings(max_examples=effort.examples(25))
@given(skills, queries, st.lists(st.sampled_from(OTHER_WORDS), min_size=3, max_size=12))
def test_a_skill_without_a_word_of_the_question_changes_nothing(
    texts_by_name: dict[str, list[str]], query: str, words: list[str]
) -> None:
    before = Index.of([skill(name, own) for name, own in texts_by_name.items()])
    after = before.updated([skill("zebra-violin", words)])
    assert ranked(after, query) == ranked(before, query)


@settings(max_examples=effort.examples(25), deadline=None)
@given(st.integers(0, 1), queries, st.lists(st.sampled_from(OTHER_WORDS), min_size=3, max_size=12))
def test_a_skill_without_a_word_of_the_question_changes_nothing_in_a_large_index(
    seed: int, query: str, words: list[str]
) -> None:
    index = large(seed, with_vectors=False)
    assert ranked(index.updated([skill("zebra-violin", words)]), query) == ranked(index, query)


@settings(max_examples=effort.examples(25))
@given(st.permutations(["ash", "beech", "cedar", "elm", "fir"]), texts, st.data())
def test_skills_with_equal_scores_are_in_the_order_of_their_names(
    names: list[str], words: list[str], data: st.DataObject
) -> None:
    index = Index.of([skill(names[0], words)])
    for name in names[1:]:
        index = index.updated([skill(name, words)])  # so that rows are in another order
    found = ranked(index, data.draw(st.sampled_from(words)))
    assert found == [(name, found[0][1]) for name in sorted(names)]


@settings(max_examples=effort.examples(25))
@given(skills, st.text(max_size=40))
def test_any_text_has_an_answer(texts_by_name: dict[str, list[str]], query: str) -> None:
    encoder = Hashed()
    index = Index.of([skill(name, words, encoder) for name, words in texts_by_name.items()])
    found = ranked(index, query, encoder=encoder)
    assert {name for name, _ in found} <= set(texts_by_name)
    assert all(np.isfinite(score) for _, score in found)


def test_links_are_in_the_order_of_their_cost() -> None:
    costs = [link.cost for link in chain.LINKS]
    assert costs == sorted(costs)
    assert len({link.name for link in chain.LINKS}) == len(chain.LINKS)
