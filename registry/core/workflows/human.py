"""Steps that ask a person: `human.input` for typed input, and `human.approve` for a decision."""

from collections.abc import Mapping

from registry.core.workflows.records import Asks
from registry.core.workflows.values import Json

INPUT, APPROVE = "human.input", "human.approve"
_KINDS = {INPUT: Asks.INPUT, APPROVE: Asks.APPROVE}


def asks(uses: str) -> bool:
    return uses in _KINDS


def kind_of(uses: str) -> Asks:
    return _KINDS[uses]


def question_of(given: Json) -> str:
    """Return the question in the input of such a step."""
    text = given.get("question") if isinstance(given, Mapping) else None
    return text if isinstance(text, str) else ""


def output_of(uses: str, value: Json, *, by: str, comment: str) -> dict[str, Json]:
    """Return the output of such a step after a person answered."""
    if uses == INPUT:
        return {"values": value}
    return {"approved": True, "comment": comment, "by": by}
