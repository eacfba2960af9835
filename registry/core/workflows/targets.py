"""Targets of outputs: where in the state of a run a step may write."""

from collections.abc import Iterable, Mapping

from registry.core.text.nearest import nearest_of
from registry.core.workflows import references
from registry.core.workflows.references import Path

WORKING_SLOTS = (
    "artifacts", "entities", "options", "criteria", "evidence", "risks", "hypotheses", "uncertainties",
    "intermediate_decisions", "messages",
)  # fmt: skip
OUTPUT_SLOTS = ("result", "result_type", "summary", "status_reason")
FRAME_SLOTS = ("goal", "context", "constraints", "success_criteria", "assumptions", "priority")

WRITABLE = ("vars", "outputs", "working", "output", "extensions")
READ_ONLY = ("inputs", "frame", "trace")
SLOTS: Mapping[str, tuple[str, ...]] = {"working": WORKING_SLOTS, "output": OUTPUT_SLOTS, "frame": FRAME_SLOTS}

MOST_PARTS = 20


def fault(target: str) -> tuple[str, str] | None:
    """Return the rest of a message and a fix if a step cannot write to this target."""
    namespace, dot, rest = target.partition(".")
    path = references.parse(target)
    if (path and path[0] in READ_ONLY) or namespace in READ_ONLY:
        return f"is in `{path[0] if path else namespace}`, which steps can only read", "Write to `vars` or `outputs`."
    if path is None and not (namespace in WRITABLE and rest):
        near = nearest_of(WRITABLE, cutoff=0.5)(namespace) if dot else ""
        fix = f"Did you mean `{near}.{rest or 'NAME'}`?" if near else "Start it with `vars.` or `outputs.`."
        return "does not start with `vars.`, `outputs.`, `working.`, `output.` or `extensions.`", fix
    if path is None or len(path) == 1 or "" in path:
        return "has an empty or invalid part", "Use letters, digits, `_` and `-` between the dots."
    if len(path) > MOST_PARTS:
        return f"has {len(path):,} parts", f"Use at most {MOST_PARTS}."
    return slot_fault(path)


def slot_fault(path: Path) -> tuple[str, str] | None:
    """Return the rest of a message and a fix if a path names a slot that its namespace does not have."""
    slots = SLOTS.get(path[0])
    if not slots or len(path) == 1 or path[1] in slots:
        return None
    near = nearest_of(slots, cutoff=0.5)(path[1])
    fix = f"Did you mean `{path[0]}.{near}`?" if near else f"Use one of {', '.join(slots)}."
    return f"names no slot of `{path[0]}`", fix


def is_within(path: Path, others: Iterable[Path]) -> bool:
    """Return whether a path is at, above or below one of the others."""
    return any(path[: len(other)] == other[: len(path)] for other in others)
