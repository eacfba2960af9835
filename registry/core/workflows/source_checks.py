"""Checks of the values that steps read and write: does somebody write them before they are read."""

from collections.abc import Callable, Iterator

from registry.core.findings import Severity
from registry.core.format.yaml_errors import clip
from registry.core.text.nearest import nearest_of
from registry.core.workflows import expressions, references, targets
from registry.core.workflows.plan import Step
from registry.core.workflows.problems import Problems
from registry.core.workflows.references import LITERAL, Path
from registry.core.workflows.values import Json
from registry.core.workflows.wiring import Wiring, compatible, local_names

UNDECLARED, UNWRITTEN, UNORDERED = "workflow-input-undeclared", "workflow-source-unwritten", "workflow-source-unordered"
SLOT, RESEMBLES = "workflow-slot-unknown", "workflow-reference-text"
OUTPUT_UNWRITTEN, OUTPUT_UNDECLARED = "workflow-output-unwritten", "workflow-output-undeclared"
OUTPUT_TYPE = "workflow-output-type"

FilePath = tuple[str | int, ...]


class SourceChecks:
    """The suggestions share a budget, so that a file full of mistakes is checked quickly."""

    def __init__(self, wiring: Wiring, problems: Problems) -> None:
        self.wiring, self.problems, plan = wiring, problems, wiring.plan
        self.inputs = nearest_of(sorted(plan.inputs), cutoff=0.5)
        self.outputs = nearest_of(sorted(plan.outputs), cutoff=0.5)
        self.written: dict[str, Callable[[str], str]] = {
            name: nearest_of(wiring.names(name), cutoff=0.5) for name in ("vars", "outputs")
        }

    def run(self) -> None:
        for number, step in enumerate(self.wiring.plan.steps):
            self.step(number, step)
        self.declared()

    def step(self, number: int, step: Step) -> None:
        at = ("steps", number)
        for place, text in _texts(step.input, (*at, "input")):
            path = references.parse(text, local_names(step))
            if path:
                self.read(number, step, path, place, 0, Severity.ERROR)
            elif references.resembles(text, local_names(step)):
                message = f"“{clip(text)}” in step '{step.id}' looks like a reference, but is read as text."
                fix = f"Correct it, or write `{{{LITERAL}: …}}` if it is text."
                self.problems.add(RESEMBLES, place, message, fix, Severity.WARNING)
        for key, text, also in _expressions(step):
            for path in expressions.parse(text).references:
                own = 1 << number if also else 0
                self.read(number, step, path, (*at, "config", *key), own, Severity.WARNING)
        self.writes(step, at)

    def read(self, number: int, step: Step, path: Path, place: FilePath, own: int, severity: Severity) -> None:
        """Check one reference. `own` has the bit of the step if it may read what it wrote itself."""
        name = clip(references.show(path))
        if len(path) == 1 or path[0] in local_names(step):
            return
        if path[0] == "inputs":
            if path[1] not in self.wiring.plan.inputs:
                message = f"Step '{step.id}' reads `{name}`, which is not an input of the workflow."
                near = self.inputs(path[1])
                fix = f"Did you mean `inputs.{near}`?" if near else f"Declare `{clip(path[1])}` below `inputs`."
                self.problems.add(UNDECLARED, place, message, fix)
        elif fault := targets.slot_fault(path):
            message = f"Step '{step.id}' reads `{name}`, which {fault[0]}."
            self.problems.add(SLOT, place, message, fault[1], severity)
        elif path[0] in ("vars", "outputs"):
            self.written_before(number, step, path, place, own, severity)

    def written_before(
        self, number: int, step: Step, path: Path, place: FilePath, own: int, severity: Severity
    ) -> None:
        wiring, name = self.wiring, clip(references.show(path))
        writers, before = wiring.writers(path), wiring.before[number] | own
        if writers & before or wiring.guessed & before:
            return
        if not writers:
            near = self.written[path[0]](path[1])
            fix = f"Did you mean `{path[0]}.{near}`?" if near and near != path[1] else "Write it in a step before."
            message = f"Step '{step.id}' reads `{name}`, which no step writes."
            self.problems.add(UNWRITTEN, place, message, fix, severity)
            return
        writer = wiring.plan.steps[(writers & -writers).bit_length() - 1]
        if writer is step:
            message, fix = f"Step '{step.id}' reads `{name}`, which only the step itself writes.", "Read another value."
        else:
            message = f"Step '{step.id}' reads `{name}`, but does not wait for step '{writer.id}', which writes it."
            fix = f"Add '{writer.id}' to `config.depends_on`, or move the step below it."
        self.problems.add(UNORDERED, place, message, fix, severity)

    def writes(self, step: Step, at: FilePath) -> None:
        """Check what a step writes to the outputs of the workflow."""
        for produced, target in (step.output or {}).items():
            path = references.parse(target)
            if path is None or path[0] != "outputs":
                continue
            place, declared = (*at, "output", produced), self.wiring.plan.outputs.get(path[1])
            if declared is None:
                near = self.outputs(path[1])
                fix = f"Did you mean `outputs.{near}`?" if near else f"Declare `{clip(path[1])}` below `outputs`."
                message = f"Step '{step.id}' writes `{clip(target)}`, which is not an output of the workflow."
                self.problems.add(OUTPUT_UNDECLARED, place, message, fix, Severity.WARNING)
                continue
            given = self.wiring.produced_type(step, produced)
            if len(path) == 2 and not compatible(given, declared.type):
                message = (
                    f"Step '{step.id}' writes a value of the type {given} to `{clip(target)}`, "
                    f"which is of the type {declared.type}."
                )
                self.problems.add(OUTPUT_TYPE, place, message, "Change the type or the target.")

    def declared(self) -> None:
        """Check that some step writes each output of the workflow."""
        for name, declared in self.wiring.plan.outputs.items():
            if self.wiring.guessed or self.wiring.writers(("outputs", name)):
                continue
            severity = Severity.ERROR if declared.required else Severity.WARNING
            what = "The required output" if declared.required else "The output"
            fix = f"Write `outputs.{name}` in the `output` of a step."
            self.problems.add(
                OUTPUT_UNWRITTEN, ("outputs", name), f"{what} `{name}` is written by no step.", fix, severity
            )


def _texts(value: Json, place: FilePath) -> Iterator[tuple[FilePath, str]]:
    """Yield each text in an input that may be a reference. The parser limits the depth."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _texts(item, (*place, at))
    elif isinstance(value, dict) and value.keys() != {LITERAL}:
        for key, item in value.items():
            yield from _texts(item, (*place, key))


def _expressions(step: Step) -> Iterator[tuple[tuple[str, ...], str, bool]]:
    """Yield the key of each expression, its text, and whether it is evaluated after the step has written."""
    if step.condition:
        yield ("condition",), step.condition, False
    if step.router:
        yield ("router", "on"), step.router.on, False
    if step.foreach:
        yield ("foreach", "items"), step.foreach.items, False
    if step.while_:
        yield ("while", "condition"), step.while_.condition, True
