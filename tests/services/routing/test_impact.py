"""Impact of a change: the questions that move, and the gate before and after it."""

import random
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD
from registry.core.routing.golden import Case
from registry.core.routing.links import meaning
from registry.models import Project
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from registry.services.routing import golden_set, impact, ranking
from registry.services.routing.changes import ChangedSkill
from registry.services.routing.impact import Impact, SkillMovement
from registry.services.routing.ranking import Ranker
from registry.services.skills import skills
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import create_skill
from tests.services.routing.gated import CASES, DESCRIPTIONS, ELSEWHERE, QUESTIONS, bundle, gated_project, measured

WORDS = (
    "invoice customer refund deploy kubernetes pod letter report data table parcel shipment voucher cheque bank coffee "
    "machine holiday poem garden tax audit salary server network backup camera photo video music zebra violin"
)


@pytest.fixture
def gated(project: Project, operator: Actor) -> Project:
    return gated_project(project, operator)


def of_text(project: Project, description: str, *, name: str = "desk", seconds: float | None = None) -> Impact:
    return impact.of_change(project, [ChangedSkill(name, bundle(name, description)[SKILL_MD])], seconds=seconds)


def test_a_project_without_test_questions_costs_one_query(
    project: Project, operator: Actor, django_assert_num_queries: Any
) -> None:
    create_skill(project, bundle(), by=operator)
    with django_assert_num_queries(1):
        found = of_text(project, ELSEWHERE)
    with django_assert_num_queries(0):
        of_text(project, "Other words.")
    assert (found.total, found.moved, found.verdict.passed, found.needs_reason) == (0, (), None, False)


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_nothing_moves_without_a_change(gated: Project, name: str) -> None:
    found = of_text(gated, DESCRIPTIONS[name], name=name)
    assert (found.moved, found.skills, found.before) == ((), (), found.after)
    assert (found.checked, found.total) == (len(CASES), len(CASES))
    assert impact.of_change(gated, []).moved == ()


def test_a_description_without_the_words_loses_its_questions(gated: Project) -> None:
    found = of_text(gated, ELSEWHERE)
    assert {each.query for each in found.worse} == set(QUESTIONS["desk"])
    assert not found.better
    assert all(each.before == "desk" != each.after for each in found.worse)
    assert found.skills[0] == SkillMovement("desk", 0, 4)
    assert found.needs_reason
    assert found.verdict_before.passed
    assert any("Worse than the baseline" in reason for reason in found.verdict.reasons)


def test_a_new_skill_takes_questions_from_another(gated: Project) -> None:
    same = DESCRIPTIONS["ledger"] + " Pays money back, refund, voucher."
    found = of_text(gated, same, name="accounts")
    assert {each.after for each in found.worse} == {"accounts"}
    assert {row.name for row in found.skills} == {"accounts", "ledger"}


def test_a_deleted_skill_leaves_questions_that_cannot_be_judged(gated: Project) -> None:
    found = impact.of_change(gated, [ChangedSkill("Desk", None)])
    assert {each.query for each in found.moved if each.stale} == set(QUESTIONS["desk"])
    assert len(found.after.stale) == len(QUESTIONS["desk"])


def test_a_question_for_a_skill_that_is_not_there_yet_is_judged_after_the_change(
    gated: Project, operator: Actor
) -> None:
    golden_set.add(gated, [Case("write verses about autumn", ("poems",))], by=operator)
    gated.refresh_from_db()
    found = of_text(gated, ELSEWHERE, name="poems")
    assert [(each.query, each.better) for each in found.moved] == [("write verses about autumn", True)]
    assert (len(found.before.stale), len(found.after.stale)) == (1, 0)


def test_a_change_of_a_skill_that_is_switched_off_moves_nothing(gated: Project, operator: Actor) -> None:
    skills.disable(gated, "desk", by=operator)
    gated.refresh_from_db()
    assert of_text(gated, ELSEWHERE).moved == ()


def test_questions_of_the_changed_skill_come_first_when_time_is_short(project: Project, operator: Actor) -> None:
    others = [Case(f"refund voucher {number}", ("ledger",)) for number in range(60)]
    gated_project(project, operator, cases=[*others, *CASES])
    found = of_text(project, ELSEWHERE, seconds=0.0)
    assert (found.checked, found.total, found.complete) == (12, 70, False)
    assert {each.query for each in found.worse} == set(QUESTIONS["desk"])
    while not found.complete:
        found = of_text(project, ELSEWHERE, seconds=60.0)
    assert found == of_text(project, ELSEWHERE)


@pytest.mark.parametrize(
    "description", [DESCRIPTIONS["ledger"], ELSEWHERE, f"{DESCRIPTIONS['desk']} Also coffee.", "Refund or espresso."]
)
def test_the_impact_is_the_evaluation_after_publishing(project: Project, operator: Actor, description: str) -> None:
    gated_project(project, operator, blocking=False)
    expected = measured(project)
    found = of_text(project, description)
    assert found.before == expected
    skills.save(project, "desk", bundle("desk", description), base=bundle().digest, by=operator)
    assert found.after == measured(project)
    project.refresh_from_db()
    back = of_text(project, DESCRIPTIONS["desk"])
    assert (back.before, back.after) == (found.after, found.before)
    assert not back.needs_reason


def test_an_answer_that_a_change_cannot_move_is_the_one_that_routing_gives(project: Project, operator: Actor) -> None:
    """More skills than a ranking has, so that the changed skill can be outside of it."""
    words = ("invoice", "harbour", "violin", "glacier")
    for number in range(14):
        about = " ".join(words[: 1 + number % len(words)])
        text = f"Describes {about} {'again ' * (number // 4)}. Use when somebody asks about {about}."
        create_skill(project, skill_bundle(f"skill-{number}", description=text, body="Steps."), by=operator)
    project.refresh_from_db()
    queries = [*words, "invoice at the harbour", "violin on a glacier", "nothing of these", "skill-3", ""]
    before = ranking.rank_each(project.pk, project.revision, queries)
    for description in (ELSEWHERE, "Describes invoice invoice. Use for an invoice.", "Violin. Use for a violin."):
        change = [ChangedSkill("skill-0", skill_bundle("skill-0", description=description)[SKILL_MD])]
        every = ranking.rank_each(project.pk, project.revision, queries, change=change)
        ranker = Ranker(project.pk, project.revision, change)
        quick = [ranker.rank(query, known) for query, known in zip(queries, before, strict=True)]
        assert quick == every
        assert any(one is two for one, two in zip(quick, before, strict=True)), "some answers are taken over"


def test_a_change_that_only_describes_another_skill_is_found(gated: Project) -> None:
    """The other skill has the word itself, so the number of skills with it stays."""
    query = "a refund"
    text = f"{ELSEWHERE} For a refund, use ledger."
    known = Ranker(gated.pk, gated.revision).rank(query)
    change = [ChangedSkill("poet", bundle("poet", text)[SKILL_MD])]
    after = Ranker(gated.pk, gated.revision, change)
    assert after.rank(query).scores[0] > known.scores[0]
    assert after.rank(query, known) == after.rank(query)


def test_a_change_that_moves_others_by_the_estimate_alone_is_found(
    project: Project, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A skill behind the first ten can take the place of another one whose phrases are compared."""
    chance, words = random.Random(1), WORDS.split()
    for number in range(40):
        description = ". ".join(" ".join(chance.choices(words, k=4)) for _ in range(2))
        on_disk(library, f"skill-{number:02}", description=description)
    built_in.index().refresh()
    monkeypatch.setattr(meaning, "PHRASE_ROWS", 12)
    before = Ranker(project.pk, project.revision)
    known = {word: before.rank(word) for word in words}
    for _ in range(6):
        text = skill_text("new", description=" ".join(chance.choices(words, k=4)))
        after = Ranker(project.pk, project.revision, [ChangedSkill("new", text.encode())])
        for query, ranked in known.items():
            assert after.rank(query, ranked).names == after.rank(query).names, (query, text)
