"""Evaluations: measured as agents get it, stored with what was learned, and compared with a baseline."""

import pytest

from registry.core import roles
from registry.core.errors import Busy, Forbidden, InvalidRequest, NotFound
from registry.core.routing.golden import Case
from registry.models import Evaluation, Event, Project, RoutingSettings
from registry.services import permissions
from registry.services.permissions import Actor
from registry.services.routing import evaluations, golden_set, routing, routing_settings
from tests.conftest import skill_bundle
from tests.prepared import create_skill, disable_skill, ensure_agent
from tests.services.footprint import nothing_left_behind

SKILLS = {
    "refunds": "Handles refunds. Use when a customer wants their money back.",
    "deploy": "Deploys a service to production. Use when a release is ready.",
    "invoices": "Writes invoices for customers. Use when an order must be billed.",
}
POSITIVE = [
    Case("refunds", ("refunds",)),
    Case("the customer wants money back", ("refunds",)),
    Case("deploy", ("deploy",)),
    Case("deploys the service to production", ("deploy",)),
    Case("invoices", ("invoices",)),
    Case("write invoices for an order that must be billed", ("invoices",)),
    Case("handle refunds for a customer", ("refunds",)),
    Case("a release is ready for production", ("deploy",)),
]
NEGATIVE = [Case("zebra giraffe"), Case("penguin walrus")]


@pytest.fixture
def measured(project: Project, author: Actor) -> Project:
    for name, description in SKILLS.items():
        create_skill(project, skill_bundle(name, description=description), by=author)
    golden_set.add(project, [*POSITIVE, *NEGATIVE], by=author)
    return project


def test_a_run_is_stored_with_its_results_and_one_event(measured: Project, author: Actor) -> None:
    evaluation = evaluations.run(measured, by=author)
    stored = Evaluation.objects.get()
    assert (stored.pk, stored.cases, stored.p_at_1, stored.mrr, stored.false_triggers) == (evaluation.pk, 10, 1, 1, 0)
    assert (stored.passed, stored.reasons, stored.by) == (True, [], "author")
    report = evaluations.report_of(stored)
    assert (report.p_at_1, report.cases, len(report.per_skill)) == (1.0, 10, 3)
    event = Event.objects.get(verb="evaluation.run")
    assert (event.data["p_at_1"], event.data["passed"], event.data["threshold_from"]) == (1.0, True, "learned")


def test_the_learned_threshold_is_used_from_then_on(measured: Project, author: Actor) -> None:
    evaluation = evaluations.run(measured, by=author)
    measured.refresh_from_db()
    routed = routing.route(measured.pk, measured.revision, "the customer wants money back")
    assert (routed.threshold, routed.threshold_from) == (evaluation.threshold, "learned")
    again, full = evaluations.run_in_full(measured, by=author, learn=False)
    assert (again.threshold, full.origin, again.p_at_1) == (evaluation.threshold, "learned", 1.0)


def test_a_threshold_that_an_earlier_version_learned_is_not_used(measured: Project, author: Actor) -> None:
    learned = evaluations.run(measured, by=author).threshold
    row = RoutingSettings.objects.get(project=measured)
    row.calibration = [*row.calibration, 1.0]
    row.save()
    measured.refresh_from_db()
    settings = routing_settings.of(measured.pk, measured.revision + 1)
    assert settings.threshold_for(None) == (routing_settings.DEFAULT_THRESHOLD, "default")
    assert settings.calibration == ()
    assert evaluations.run(measured, by=author).threshold == learned


def test_a_fixed_threshold_is_kept(measured: Project, author: Actor, owner: Actor) -> None:
    routing_settings.change(measured, fixed_threshold=1.0, by=owner)
    evaluation, full = evaluations.run_in_full(measured, by=author)
    assert (evaluation.threshold, full.origin, full.learned) == (1.0, "project", None)
    assert full.report.verdicts["missed_trigger"] > 0
    routing_settings.change(measured, fixed_threshold=None, by=owner)
    assert evaluations.run_in_full(measured, by=author)[1].origin == "learned"


def test_nothing_is_learned_from_a_few_right_answers(measured: Project, author: Actor) -> None:
    golden_set.delete(measured, [row.pk for row in golden_set.cases(measured, by=author)[4:]], by=author)
    assert evaluations.run_in_full(measured, by=author)[1].origin == "default"


def test_to_measure_stores_and_learns_nothing(measured: Project) -> None:
    with nothing_left_behind():
        assert evaluations.measure(measured, golden_set.all_of(measured.pk)).learned


def test_stale_cases_are_reported_and_not_counted(measured: Project, author: Actor) -> None:
    disable_skill(measured, "deploy", by=author)
    evaluation = evaluations.run(measured, by=author)
    assert (evaluation.cases, evaluation.passed) == (7, False)
    report = evaluations.report_of(evaluation)
    assert [stale.reason for stale in report.stale] == ["deploy is switched off."] * 3


def test_a_regression_is_named_until_another_baseline_is_chosen(measured: Project, author: Actor, owner: Actor) -> None:
    first = evaluations.run(measured, by=author)
    routing_settings.change(
        measured, fixed_threshold=1.0, least_p_at_1=0.0, least_mrr=0.0, by=owner
    )  # loses answers, and stays within the limits
    worse = evaluations.run(measured, by=author)
    assert worse.passed is False
    assert "Worse than the baseline" in worse.reasons[0]
    assert evaluations.baseline_row(measured) == first
    evaluations.set_baseline(measured, worse.pk, by=author)
    assert evaluations.run(measured, by=author).passed is True
    evaluations.set_baseline(measured, first.pk, by=author)
    assert evaluations.run(measured, by=author).passed is False


def test_an_unknown_baseline_is_refused(measured: Project, author: Actor, other_project: Project) -> None:
    with nothing_left_behind(), pytest.raises(NotFound):
        evaluations.set_baseline(measured, 0, by=author)


def test_old_runs_lose_their_single_results_and_then_go(
    measured: Project, author: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluations, "KEPT", 4)
    monkeypatch.setattr(evaluations, "KEPT_WITH_OUTCOMES", 2)
    first = evaluations.run(measured, by=author)
    evaluations.set_baseline(measured, first.pk, by=author)
    for _ in range(5):
        evaluations.run(measured, by=author)
    rows = evaluations.history(measured)
    assert [bool(row.outcomes) for row in rows] == [True, True, False, False, True]
    assert rows[-1] == first
    with nothing_left_behind(), pytest.raises(NotFound, match="no longer stored"):
        evaluations.set_baseline(measured, rows[2].pk, by=author)


def test_agents_and_viewers_cannot_run_or_choose(measured: Project, viewer: Actor, operator: Actor) -> None:
    agent = permissions.agent(ensure_agent(measured, "bot", by=operator), frozenset(roles.SCOPES))
    for by in (viewer, agent):
        with nothing_left_behind(), pytest.raises(Forbidden):
            evaluations.run(measured, by=by)
        with nothing_left_behind(), pytest.raises(Forbidden):
            evaluations.set_baseline(measured, None, by=by)


def test_one_run_at_a_time_in_a_process(measured: Project, author: Actor) -> None:
    with evaluations.one_at_a_time(), nothing_left_behind(), pytest.raises(Busy) as refused:
        evaluations.run(measured, by=author)
    assert refused.value.data == {"retry_after": 5}
    assert evaluations.run(measured, by=author).cases == 10


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"fixed_threshold": 1.1}, "from 0 to 1"),
        ({"fixed_threshold": float("nan")}, "from 0 to 1"),
        ({"fixed_threshold": True}, "from 0 to 1"),
        ({"least_p_at_1": -0.1}, "from 0 to 1"),
        ({"least_mrr": "0.8"}, "from 0 to 1"),
        ({"most_false_triggers": None}, "from 0 to 1"),
        ({"least_cases": 0}, "from 1 to 500"),
        ({"least_cases": 8.0}, "from 1 to 500"),
        ({"log_days": 366}, "from 0 to 365"),
        ({"log_share": 2}, "from 0 to 1"),
        ({"blocking": "yes"}, "true or false"),
        ({"calibration": []}, "There is no setting"),
    ],
)
def test_settings_have_limits(project: Project, owner: Actor, values: dict[str, object], message: str) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest, match=message) as refused:
        routing_settings.change(project, by=owner, **values)
    assert refused.value.field == next(iter(values))


def test_settings_are_changed_by_owners_and_used_at_once(project: Project, owner: Actor, author: Actor) -> None:
    changed = routing_settings.change(project, least_p_at_1=0.5, blocking=True, log_days=3, by=owner)
    project.refresh_from_db()
    used = routing_settings.of(project.pk, project.revision)
    assert used == changed
    assert (used.limits.least_p_at_1, used.limits.least_mrr, used.blocking, used.log_days) == (0.5, 0.85, True, 3)
    with nothing_left_behind():
        routing_settings.change(project, least_p_at_1=0.5, by=owner)
    with nothing_left_behind(), pytest.raises(Forbidden):
        routing_settings.change(project, least_p_at_1=0.1, by=author)
