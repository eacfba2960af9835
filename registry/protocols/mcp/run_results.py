"""Runs and capabilities as results of MCP tools: short enough for a prompt, and with the next thing to do."""

from collections.abc import Iterable, Mapping
from typing import Any

from registry.core.errors import NotFound, TooLarge
from registry.core.workflows.capability import Capability
from registry.core.workflows.question_text import headline
from registry.core.workflows.records import Asks, RunState
from registry.core.workflows.run_tree import ROOT
from registry.core.workflows.values import Fields, Json, canonical
from registry.models import Project, Run, RunStep
from registry.protocols.mcp.tool import TEXT
from registry.services.notifications import links
from registry.services.permissions import Actor
from registry.services.workflows import locks, run_details, stored_values
from registry.services.workflows.run_details import RunDetails, ShownQuestion

MOST_STEPS = 50  # in one result
_MOST_READ_BYTES = 8 * 1024 * 1024
MOST_OUTPUT_CHARS = 128_000  # as for a file of a skill
_TODO = {
    Asks.APPROVE: "A person has to approve or deny this.",
    Asks.INPUT: "A person has to give the input.",
    Asks.DOUBT: "A person has to say whether the call happened.",
}
_NEXT = {
    RunState.QUEUED: "Call wait_for_run to see it go on.",
    RunState.RUNNING: "Call wait_for_run to see it go on.",
    RunState.COMPLETED: "The run is complete.",
    RunState.FAILED: "The run failed. Read the reason before you start it again.",
    RunState.DENIED: "A person denied it. Do not start it again without asking them.",
    RunState.EXPIRED: "Nobody answered in time. Ask the people concerned before you start it again.",
    RunState.CANCELLED: "The run was cancelled.",
}


def run_json(project: Project, run: Run, *, first_step: int = 0, by: Actor) -> dict[str, Any]:
    """Return everything that an agent has to know of a run, with one page of its steps."""
    details = run_details.details_of(run, first=first_step, most=MOST_STEPS, by=by)
    page = links.absolute(links.run_path(project.slug, run.pk))
    steps = [_step(step.row) for step in details.steps]
    following = first_step + len(steps)
    return {
        "ok": True,
        **summary(run),
        "changes": run.changes,
        "reason": run.reason,
        "code": run.code or None,
        "steps": steps,
        "total_steps": details.total_steps,
        "next_step": following if following < details.total_steps else None,
        "questions": [_question(question) for question in details.open_questions],
        "outputs": _outputs(details, page),
        "page": page,
        "next": _next(run, details, page),
    }


def summary(run: Run) -> dict[str, Any]:
    return {
        "id": run.pk,
        "skill": run.skill,
        "version": run.version,
        "state": run.state,
        "started_by": run.started_by,
        "created_at": run.created_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
    }


def _next(run: Run, details: RunDetails, page: str) -> str:
    if run.state != RunState.WAITING:
        return _NEXT[RunState(run.state)]
    if not details.open_questions:
        return _NEXT[RunState.RUNNING]
    return (
        f"A person has to answer at {page}. You cannot do it for them. Tell them, and then call wait_for_run with "
        f"id {run.pk} and seen {run.changes}."
    )


def _step(row: RunStep) -> dict[str, Any]:
    return {
        "path": row.path,
        "uses": row.uses,
        "state": row.state,
        "attempts": row.attempts,
        "reason": row.message or row.reason,
    }


def _question(question: ShownQuestion) -> dict[str, Any]:
    row = question.row
    approvers = {"people": row.people, "roles": row.roles, "needed": row.needed}
    return {
        "id": row.pk,
        "step": row.path,
        "kind": row.kind,
        "text": headline(row.kind, question.shown),
        "todo": _TODO[Asks(row.kind)],
        "approvers": {**approvers, "approved_by": list(question.approved_by)},
        "expires_at": row.expires_at.isoformat() if row.expires_at else None,
    }


def _outputs(details: RunDetails, page: str) -> Json:
    shown = details.outputs
    if not shown.is_omitted:
        return shown.value
    size = f" of {shown.chars:,} characters" if shown.chars else ""
    names = ", ".join(locks.library_of(details.run.lock).plans[ROOT].outputs)
    advice = f"Call get_run with `output` set to one of these names: {names}. Or open {page}."
    return {"omitted": f"The outputs{size} are too large for this result. {advice}"}


def one_output(run: Run, name: str) -> dict[str, Json]:
    """Return a single output of a run, however large the others are. Raise if there is none, or if it is too large."""
    size = stored_values.stored_size(run.outputs) or 0
    if size > _MOST_READ_BYTES:
        raise TooLarge(f"The outputs have {size:,} bytes. {_MOST_READ_BYTES:,} are read for a result. Open the page.")
    outputs = stored_values.unpack(run.outputs) or {}
    if name not in outputs:
        known = f"It has {', '.join(outputs)}." if outputs else f"It is {run.state} and has no outputs."
        raise NotFound(f"The run has no output {name[:64]}. {known}")
    chars = len(canonical(outputs[name]))
    if chars > MOST_OUTPUT_CHARS:
        raise TooLarge(f"The output {name} has {chars:,} characters. {MOST_OUTPUT_CHARS:,} fit into a result.")
    return {name: outputs[name]}


def capability_json(capability: Capability) -> dict[str, Any]:
    safety = capability.safety
    replaced = {"replacement": capability.replacement} if capability.deprecated else {}
    return {
        "id": capability.id,
        "version": capability.version,
        "description": capability.description,
        "inputs": fields_json(capability.inputs),
        "outputs": fields_json(capability.outputs),
        "side_effects": capability.properties.side_effects,
        "trust_level": safety.trust_level,
        "needs_approval": safety.requires_confirmation,
        **replaced,
    }


def fields_json(fields: Fields) -> dict[str, str]:
    """Return the fields with their types in words, such as `string, required`."""
    return {name: f"{field.type or 'any'}{', required' if field.required else ''}" for name, field in fields.items()}


def _object(properties: Mapping[str, Any], *, optional: Iterable[str] = ()) -> dict[str, Any]:
    required = [name for name in properties if name not in set(optional)]
    return {"type": "object", "properties": dict(properties), "required": required}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_NUMBER, _TRUE_OR_FALSE = {"type": "integer"}, {"type": "boolean"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_STATE = {**TEXT, "enum": [state.value for state in RunState]}
_TEXTS = _list(TEXT)
_SUMMARY = {
    "id": _NUMBER,
    "skill": TEXT,
    "version": TEXT,
    "state": _STATE,
    "started_by": TEXT,
    "created_at": TEXT,
    "finished_at": _TEXT_OR_NULL,
}
_STEP = {"path": TEXT, "uses": TEXT, "state": TEXT, "attempts": _NUMBER, "reason": TEXT}
_QUESTION = {
    "id": _NUMBER,
    "step": TEXT,
    "kind": {**TEXT, "enum": [kind.value for kind in Asks]},
    "text": TEXT,
    "todo": TEXT,
    "approvers": _object({"people": _TEXTS, "roles": _TEXTS, "needed": _NUMBER, "approved_by": _TEXTS}),
    "expires_at": _TEXT_OR_NULL,
}
RUN_SCHEMA = _object(
    {
        "ok": _TRUE_OR_FALSE,
        **_SUMMARY,
        "changes": {**_NUMBER, "description": "Grows with everything that happens. Pass it to wait_for_run as seen."},
        "reason": TEXT,
        "code": _TEXT_OR_NULL,
        "steps": _list(_object(_STEP)),
        "total_steps": _NUMBER,
        "next_step": {"type": ["integer", "null"], "description": "Pass it to get_run as first_step for more steps."},
        "questions": _list(_object(_QUESTION)),
        "outputs": {"type": ["object", "null"]},
        "page": {**TEXT, "description": "The page of the run, for people."},
        "next": {**TEXT, "description": "Advice on the next thing to do."},
    }
)
RUNS_SCHEMA = _object(
    {"ok": _TRUE_OR_FALSE, "runs": _list(_object(_SUMMARY)), "next_before": {"type": ["integer", "null"]}}
)
_CAPABILITY = {
    "id": TEXT,
    "version": TEXT,
    "description": TEXT,
    "inputs": {"type": "object"},
    "outputs": {"type": "object"},
    "side_effects": _TRUE_OR_FALSE,
    "trust_level": TEXT,
    "needs_approval": _TRUE_OR_FALSE,
    "replacement": TEXT,
}
CAPABILITIES_SCHEMA = _object(
    {
        "ok": _TRUE_OR_FALSE,
        "capabilities": _list(_object(_CAPABILITY, optional=("replacement",))),
        "omitted": _list(TEXT),
    }
)
