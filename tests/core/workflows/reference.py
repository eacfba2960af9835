"""A slow and simple interpreter of plans: one step after the other, in the order of the plan."""

from collections.abc import Mapping

from registry.core.workflows.plan import Plan
from registry.core.workflows.values import Json


def interpret(plan: Plan, failing: frozenset[str], skipped: frozenset[str], *, fail_fast: bool) -> Mapping[str, Json]:
    """Return the state of each step, and for a completed one the sum of what its dependencies gave, plus one.

    With `fail_fast`, steps that depend on nothing that failed may or may not have run. They are `either`.
    """
    results: dict[str, Json] = {}
    for id_ in plan.order:
        needed = plan.step(id_).depends_on
        if any(results[each] in ("failed", "blocked") for each in needed):
            results[id_] = "blocked"
        elif id_ in skipped:
            results[id_] = "skipped"
        elif id_ in failing:
            results[id_] = "failed"
        else:
            results[id_] = 1 + sum(results[each] for each in needed if isinstance(results[each], int))
    if fail_fast and "failed" in results.values():
        return {id_: "either" if isinstance(result, int) else result for id_, result in results.items()}
    return results
