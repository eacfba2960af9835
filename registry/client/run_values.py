"""Runs and capabilities, parsed from the JSON of the site with type checks. `data` is the whole JSON of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.client.json_fields import get

QUEUED, RUNNING, WAITING = "queued", "running", "waiting"
COMPLETED, FAILED, DENIED, EXPIRED, CANCELLED = "completed", "failed", "denied", "expired", "cancelled"
_UNFINISHED = frozenset({QUEUED, RUNNING, WAITING})
_UNFINISHED_STEPS = frozenset({"running", "waiting", "retrying"})


@dataclass(frozen=True, slots=True)
class RunStep:
    """A step, an item of a step, or a step of a nested skill."""

    path: str
    uses: str
    state: str
    attempts: int
    reason: str
    data: Mapping[str, Any]

    @property
    def is_finished(self) -> bool:
        return self.state not in _UNFINISHED_STEPS


@dataclass(frozen=True, slots=True)
class RunQuestion:
    """A question to a person. `text` is what it asks."""

    id: int
    step: str
    kind: str
    state: str
    digest: str
    text: str
    expires_at: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run without its steps. `reason` says why it failed, was denied, expired or was cancelled.

    `changes` grows with everything that happens.
    """

    id: int
    skill: str
    version: str
    state: str
    code: str
    reason: str
    started_by: str
    created_at: str
    changes: int
    data: Mapping[str, Any]

    @property
    def is_finished(self) -> bool:
        return self.state not in _UNFINISHED


@dataclass(frozen=True, slots=True)
class Run(RunSummary):
    """A run. `outputs` is None until it is completed. `questions` are the open ones."""

    outputs: Any
    steps: tuple[RunStep, ...]
    total_steps: int
    questions: tuple[RunQuestion, ...]


@dataclass(frozen=True, slots=True)
class RunPage:
    """One page of the list of runs."""

    runs: tuple[RunSummary, ...]
    has_more: bool


@dataclass(frozen=True, slots=True)
class Capability:
    """A capability. `inputs` and `outputs` have the type of each field, in words such as `string, required`."""

    id: str
    version: str
    description: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    data: Mapping[str, Any]


def summary(data: Any) -> RunSummary:
    return RunSummary(**_summary(data))


def run(data: Any) -> Run:
    return Run(
        **_summary(data),
        outputs=data.get("outputs"),
        steps=tuple(_step(each) for each in get(data, "steps", list)),
        total_steps=get(data, "total_steps", int),
        questions=tuple(_question(each) for each in get(data, "questions", list) if get(each, "state", str) == "open"),
    )


def page(data: Any) -> RunPage:
    return RunPage(tuple(summary(each) for each in get(data, "results", list)), data.get("next") is not None)


def capability(data: Any) -> Capability:
    texts = {key: get(data, key, str) for key in ("id", "version", "description")}
    return Capability(**texts, inputs=_fields(data, "inputs"), outputs=_fields(data, "outputs"), data=data)


def _fields(data: Any, key: str) -> dict[str, str]:
    return {
        name: get(field, "type", str) + (", required" if get(field, "required", bool) else "")
        for name, field in get(data, key, dict).items()
    }


def _summary(data: Any) -> dict[str, Any]:
    texts = {key: get(data, key, str) for key in ("skill", "version", "state", "code", "reason", "created_at")}
    starter = get(get(data, "by", dict), "name", str)
    numbers = {key: get(data, key, int) for key in ("id", "changes")}
    return {**numbers, **texts, "started_by": starter, "data": data}


def _step(data: Any) -> RunStep:
    texts = {key: get(data, key, str) for key in ("path", "uses", "state")}
    reason = get(data, "message", str) or get(data, "reason", str)
    return RunStep(**texts, attempts=get(data, "attempts", int), reason=reason, data=data)


def _question(data: Any) -> RunQuestion:
    texts = {key: get(data, key, str) for key in ("step", "kind", "state", "digest")}
    text = _asked(get(data, "shown", dict))
    return RunQuestion(
        get(data, "id", int), **texts, text=text, expires_at=str(data.get("expires_at") or ""), data=data
    )


def _asked(shown: Mapping[str, Any]) -> str:
    given = shown.get("input")
    question = given.get("question") if isinstance(given, dict) else None
    if isinstance(question, str) and question:
        return question
    return f"{shown.get('capability', '')}: {shown.get('reason', '')}".strip(": ")
