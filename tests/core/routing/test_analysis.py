"""Analysed skills as bytes, and the index that is made of them."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.routing import analysis, skill_text
from registry.core.routing.analysis import Analysed, Damaged, hashed
from registry.core.routing.index import Index
from registry.core.routing.words import terms
from tests import effort
from tests.core.routing.samples import Hashed, skill

REFUNDS = skill_text.of_parts(
    "refunds",
    "Refunds",
    "Pays money back. For invoices, see billing.",
    "# Refunds\n\nOpen the ledger.",
    triggers=["u8"],
)
STORED = analysis.analyse(REFUNDS, Hashed()).to_bytes()


@pytest.mark.parametrize("encoder", [None, Hashed()])
def test_an_analysis_survives_being_stored(encoder: Hashed | None) -> None:
    made = analysis.analyse(REFUNDS, encoder)
    read = Analysed.from_bytes(made.to_bytes())
    for field in dataclasses.fields(Analysed):
        one, other = getattr(made, field.name), getattr(read, field.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert one.shape == other.shape
            assert (one == other).all()
        else:
            assert one == other


@settings(max_examples=effort.examples(60))
@given(st.integers(0, len(STORED) - 1), st.integers(1, 255))
def test_a_changed_byte_is_one_kind_of_error(at: int, by: int) -> None:
    damaged = bytearray(STORED)
    damaged[at] ^= by
    with pytest.raises(Damaged):
        Analysed.from_bytes(bytes(damaged))


@pytest.mark.parametrize("content", [b"", b"\0" * 7, b"\0" * 100, STORED[:-1], STORED + b"\0", STORED[4:]])
def test_bytes_of_another_form_are_refused(content: bytes) -> None:
    with pytest.raises(Damaged):
        Analysed.from_bytes(content)


def test_another_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "FORMAT", "0")
    with pytest.raises(Damaged):
        Analysed.from_bytes(STORED)


def test_the_format_names_the_encoder() -> None:
    assert analysis.format_of(None) != analysis.format_of(Hashed())


def test_what_another_skill_says_counts_for_the_skill_that_it_names() -> None:
    (invoice,) = terms("invoices")
    billing = analysis.analyse(skill_text.of_parts("billing", "", "Writes bills.", ""))
    alone = Index.of([billing])
    both = alone.updated([analysis.analyse(REFUNDS)])
    assert alone.hits(hashed([invoice])).rows.tolist() == []
    assert both.hits(hashed([invoice])).rows.tolist() == [both.row_of["billing"]]
    assert both.updated([], ["refunds"]).hits(hashed([invoice])).rows.tolist() == []
    assert both.updated([], ["billing"]).hits(hashed([invoice])).rows.tolist() == []


def test_many_changes_keep_few_rows_out_of_use() -> None:
    index = Index.of([skill(f"skill-{number}", ["refund", "pod", "csv"]) for number in range(40)])
    for number in range(200):
        index = index.updated([skill(f"skill-{number % 40}", ["deploy", "pod", "csv"])])
    assert len(index) == 40
    assert len(index.names) <= 120
    assert len(index.hits(hashed(["refund"])).rows) == 0


def test_removed_skills_do_not_stay_in_memory() -> None:
    skills = [skill(f"skill-{number:03}", ["refund", "pod", "csv"]) for number in range(200)]
    index = Index.of(skills)
    for each in skills[1:]:
        index = index.updated([], [each.name])
    assert len(index) == 1
    assert len(index.names) <= 2
    assert index.hits(hashed(["pod"])).counts.tolist() == [1]
    assert index.updated([], ["skill-000"]).names == ()


def test_an_empty_index_has_no_hits() -> None:
    index = Index.of([])
    assert len(index) == 0
    assert len(index.hits(hashed(["refund"])).rows) == 0
    assert len(index.updated([], ["missing"])) == 0
