"""Workflow files: reads `workflow.yaml` into a plan and reports every problem with its line."""

from dataclasses import dataclass, replace

from registry.core.errors import SkillsiteError
from registry.core.findings import Finding
from registry.core.limits import DEFAULT, Limits
from registry.core.workflows import documents, fields, graph, heading, steps
from registry.core.workflows.documents import Document
from registry.core.workflows.plan import FILE, Plan
from registry.core.workflows.problems import Problems, listed
from registry.core.workflows.sections import VALUE, Section, shown
from registry.core.workflows.steps import Read

YAML, ROOT = "workflow-yaml", "workflow-root"
_STEPS = "`steps:` and below it one `- id: …` with `uses: …` for each step"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A workflow file. `plan` is None if a finding is an error. `document` is None if the YAML is invalid.

    `sketch` has as much of the plan as can be read, for a file that somebody is still writing. It cannot run.
    """

    plan: Plan | None
    findings: tuple[Finding, ...]
    document: Document | None = None
    sketch: Plan | None = None


def parse(content: bytes | str, *, limits: Limits = DEFAULT) -> Parsed:
    """Parse a workflow file. Problems are findings, never raised."""
    try:
        document = documents.load(content, file=FILE, limits=limits)
    except SkillsiteError as error:
        return Parsed(None, tuple(replace(finding, rule=YAML) for finding in error.findings))
    problems = Problems(document)
    plan = _plan(problems)
    return Parsed(None if problems.fatal else plan, listed(problems.findings), document, plan)


def _plan(problems: Problems) -> Plan | None:
    value = problems.document.value
    if not isinstance(value, dict):
        message = "The file is empty." if value is None else f"The file is {shown(value)} instead of keys and values."
        problems.add(ROOT, (), message, "Start it with `id:`, `version:` and `steps:`.")
        return None
    root = Section(problems, (), value)
    inputs, outputs = fields.inputs(root), fields.outputs(root)
    read = _steps(root)
    id_, version = heading.identity(root, "text.hello-world"), heading.version(root)
    description = root.text("description", most=fields.DESCRIPTION_CHARS)
    for key in ("name", "metadata"):
        root.ignore(key, "is not used.")
    root.ignore("triggers", "is not used. Nothing starts this workflow by itself.")
    root.unknown_keys()
    if read is None:
        return None
    built = graph.build([each.node for each in read])
    for fault in built.faults:
        problems.add(*fault)
    complete = tuple(replace(each.step, depends_on=names_) for each, names_ in zip(read, built.depends_on, strict=True))
    return Plan(id_, version, inputs, outputs, complete, built.order, description)


def _steps(root: Section) -> list[Read] | None:
    """Return the steps that are maps, None if nothing is said about them that could be checked further."""
    value = root.get("steps")
    if value is None:
        root.missing("steps", f"Write {_STEPS}.")
    elif not isinstance(value, list):
        root.refuse("steps", value, _STEPS)
    if not isinstance(value, list):
        return None
    read = []
    for at, item in enumerate(value):
        path = ("steps", at)
        if isinstance(item, dict):
            read.append(steps.read(Section(root.problems, path, item), at + 1))
        else:
            root.problems.add(VALUE, path, f"Step {at + 1} is {shown(item)}.", "Write `- id: …` and `uses: …`.")
    return None if value and not read else read
