"""Questions of runs in one sentence, for the inbox and lists. The page of the run shows everything that is asked."""

from collections.abc import Mapping

from registry.core.workflows import human
from registry.core.workflows.records import Asks
from registry.core.workflows.values import Json


def headline(kind: str, shown: Mapping[str, Json]) -> str:
    """Return what a question asks. `shown` is what people see before they answer."""
    uses = str(shown.get("capability", ""))
    if human.asks(uses):
        return human.question_of(shown.get("input")) or ("Give the input." if kind == Asks.INPUT else "Approve this.")
    if kind == Asks.DOUBT:
        return f"Did the call of {uses} happen? It was cut off."
    reason = str(shown.get("reason", ""))
    call = f"{uses} on {shown['target']}" if shown.get("target") else uses
    return f"Allow the call of {call}? {reason}".strip()
