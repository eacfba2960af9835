"""Outcomes of tasks as JSON, and back."""

from dataclasses import asdict
from typing import Any

from registry.core.workflows.failures import Code, Failure
from registry.core.workflows.policy import Verdict
from registry.core.workflows.tasks import Outcome

_FLAGS = ("retryable", "in_doubt", "not_made", "cut_off")


def as_json(outcome: Outcome) -> dict[str, Any]:
    verdicts, failure = outcome.verdicts, outcome.failure
    return {
        "output": outcome.output,
        "verdicts": None if verdicts is None else [asdict(verdict) for verdict in verdicts],
        "failure": None if failure is None else {"code": failure.code.value, "message": failure.message},
        "retry_after": outcome.retry_after,
        **{flag: True for flag in _FLAGS if getattr(outcome, flag)},
    }


def read(document: dict[str, Any]) -> Outcome:
    verdicts, failure = document["verdicts"], document["failure"]
    return Outcome(
        output=document["output"],
        verdicts=None if verdicts is None else tuple(Verdict(**verdict) for verdict in verdicts),
        failure=None if failure is None else Failure(Code(failure["code"]), failure["message"]),
        retry_after=document["retry_after"],
        **{flag: True for flag in _FLAGS if document.get(flag)},
    )
