"""A project with three skills and a golden set that they pass, behind a blocking gate."""

from registry.core.bundle import Bundle
from registry.core.routing.golden import Case
from registry.core.routing.metrics import Report
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.routing import evaluations, golden_set, routing_settings
from tests.conftest import skill_bundle
from tests.prepared import create_skill

DESCRIPTIONS = {
    "desk": "Finds where a parcel or shipment is. Use when somebody waits for a delivery.",
    "ledger": "Pays money back. Use when a customer wants a refund or a voucher.",
    "barista": "Cleans the espresso machine. Use when the coffee tastes burnt.",
}
QUESTIONS = {
    "desk": ("where is my parcel", "my shipment is late", "when is the delivery", "parcel lost on delivery"),
    "ledger": ("I want a refund", "customer asks for a voucher", "pay the money back"),
    "barista": ("the coffee tastes burnt", "clean the espresso machine", "burnt espresso"),
}
ELSEWHERE = "Writes poems about autumn. Use when somebody wants verses."
CASES = [Case(query, (name,)) for name, queries in QUESTIONS.items() for query in queries]


def bundle(name: str = "desk", description: str = "") -> Bundle:
    return skill_bundle(name, description=description or DESCRIPTIONS[name], body="Follow these steps.")


def thief() -> Bundle:
    """Return a new skill that wins every question of “desk”."""
    return skill_bundle("couriers", description=DESCRIPTIONS["desk"], triggers=QUESTIONS["desk"], body="Follow these.")


def measured(project: Project) -> Report:
    """Return the report of the golden set, without storing or learning anything."""
    return evaluations.measure(project, golden_set.all_of(project.pk), learn=False).report


def gated_project(project: Project, by: Actor, *, blocking: bool = True, cases: list[Case] | None = None) -> Project:
    """Create the skills, the golden set and the baseline. Without a threshold, the ranking alone decides."""
    for name in DESCRIPTIONS:
        create_skill(project, bundle(name), by=by)
    golden_set.add(project, cases or CASES, by=by)
    routing_settings.change(project, blocking=blocking, fixed_threshold=0.0, by=by)
    evaluation = evaluations.run(project, learn=False, by=by)
    assert evaluation.passed, evaluation.reasons
    project.refresh_from_db()
    return project
