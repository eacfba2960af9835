"""The call behind a question: facts about it that the question itself does not store."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from registry.core.workflows import capability_bindings
from registry.core.workflows.capability import HTTP, MCP, Capability
from registry.core.workflows.failures import StepFailed
from registry.core.workflows.plan import SKILL_PREFIX, Step
from registry.core.workflows.values import Fields
from registry.models import Run, RunQuestion, RunStep
from registry.remote.bindings import http, mcp_messages
from registry.services.capabilities import capability_registry
from registry.services.workflows import dispatch, locks


@dataclass(frozen=True, slots=True)
class CallFacts:
    """`secrets` are names. `is_changed` means that the definition is not the one that the question shows any longer."""

    secrets: tuple[str, ...] = ()
    is_changed: bool = False
    is_gone: bool = False


def facts(question: RunQuestion) -> CallFacts:
    """Compare the capability with the one that the question shows. A nested skill has none."""
    if str(question.shown["capability"]).startswith(SKILL_PREFIX):
        return CallFacts()
    capability = _capability(question)
    if capability is None:
        return CallFacts(is_gone=True)
    secrets = tuple(sorted({name for _, name in capability_bindings.secrets(capability.binding)}))
    return CallFacts(secrets, is_changed=capability.digest != question.shown["definition"])


@dataclass(frozen=True, slots=True)
class InterruptedCall:
    """A call that was cut off. The service got `key` as `key_name`, which is empty if the kind of call sends no key.

    `outputs` are the fields of its result.
    """

    key: str
    key_name: str
    started_at: datetime | None
    attempts: int
    outputs: Fields


def interrupted(question: RunQuestion) -> InterruptedCall:
    """Return what helps a person to find out whether a call has happened."""
    step = RunStep.objects.filter(run=question.run_id, path=question.path).only("started_at", "attempts").first()
    capability = _capability(question)
    key = dispatch.call_key(dispatch.run_key(question.run_id), question.path)
    kind = capability.kind if capability else ""
    binding: Mapping[str, object] = capability.binding if capability else {}
    names = {HTTP: str(binding.get("idempotency_header", http.IDEMPOTENCY_HEADER)), MCP: mcp_messages.IDEMPOTENCY_META}
    return InterruptedCall(
        key=http.header_key(key) if kind == HTTP else key,
        key_name=names.get(kind, ""),
        started_at=step.started_at if step else None,
        attempts=step.attempts if step else 0,
        outputs=capability.outputs if capability else {},
    )


def _capability(question: RunQuestion) -> Capability | None:
    try:
        return capability_registry.of(question.run.project_id).get(str(question.shown["capability"]))
    except StepFailed:
        return None


def step_of(run: Run, path: str) -> Step | None:
    """Return the step of a path, or None if a step above it can use several nested skills."""
    library = locks.library_of(run.lock)
    skill: str | None = ""
    step = None
    for part in path.split("/"):
        plan, name = library.plans.get(skill) if skill is not None else None, _id(part)
        if plan is None or name not in plan.order:
            return None
        step = plan.step(name)
        nested = {library.skill_of(uses) for uses in step.used} - {None}
        skill = nested.pop() if len(nested) == 1 else None
    return step


def _id(part: str) -> str:
    for mark in "!@[#":
        part = part.partition(mark)[0]
    return part
