"""Lint of workflows: problems of a valid plan, such as unknown capabilities and values that nobody writes."""

from collections.abc import Collection, Iterator, Mapping

from registry.core.findings import Finding, Severity
from registry.core.workflows import (
    capability_checks,
    control_flow,
    fields,
    graph,
    heading,
    sections,
    source_checks,
    steps,
)
from registry.core.workflows import workflow_yaml as parser
from registry.core.workflows.capability import Capability
from registry.core.workflows.capability_checks import CapabilityChecks
from registry.core.workflows.plan import Plan, Step
from registry.core.workflows.problems import Problems, listed
from registry.core.workflows.source_checks import SourceChecks
from registry.core.workflows.wiring import Wiring
from registry.core.workflows.workflow_yaml import Parsed

FLOW = "workflow-flow-ignored"

# Rules of the parser: a file that breaks one as an error cannot run.
STRUCTURE: Mapping[str, str] = {
    parser.YAML: "workflow.yaml is valid YAML and within the limits.",
    parser.ROOT: "workflow.yaml has keys and values.",
    sections.VALUE: "Values have the right type and are within their bounds.",
    sections.MISSING: "Required keys exist.",
    sections.UNKNOWN: "Every key is known.",
    sections.MISPLACED: "Keys are at their place and have their current names.",
    sections.IGNORED: "Every key is used.",
    fields.NAME: "Inputs and outputs have valid names.",
    fields.DEFAULT: "A default fits the type of its input.",
    fields.REQUIRED_DEFAULT: "A required input has no default.",
    heading.ID: "Workflows and steps have valid ids.",
    steps.TARGET: "Steps write to places where they may write.",
    control_flow.EXPRESSION: "Expressions are valid.",
    control_flow.CAPABILITY: "Steps use capabilities or nested skills.",
    control_flow.LOCAL: "The names of a foreach are different and not taken.",
    control_flow.APPROVERS: "Approvers can approve.",
    graph.EMPTY: "A workflow has steps.",
    graph.MANY: "A workflow has at most 500 steps.",
    graph.DUPLICATE: "Each step has an id of its own.",
    graph.UNKNOWN: "Steps depend on steps that exist.",
    graph.ITSELF: "No step depends on itself.",
    graph.CYCLE: "Steps do not depend on each other in a circle.",
    graph.TOO_MANY: "Steps have at most 20,000 dependencies together.",
    graph.ON_DENY: "`on_deny` names a step further down that waits for the step.",
}

# Rules of a plan that can run, but not well.
WIRING: Mapping[str, str] = {
    capability_checks.UNKNOWN: "Capabilities are registered.",
    capability_checks.SKILL_UNKNOWN: "Nested skills exist.",
    capability_checks.DEPRECATED: "Capabilities are current and named by their ids.",
    capability_checks.UNGUARDED: "Capabilities with side effects have a safety block.",
    capability_checks.INPUT_MISSING: "Steps give the inputs that their capabilities need.",
    capability_checks.INPUT_UNKNOWN: "Steps give only inputs that their capabilities have.",
    capability_checks.INPUT_TYPE: "Inputs have the types that capabilities need.",
    capability_checks.OUTPUT_UNKNOWN: "Steps read only fields that their capabilities return.",
    capability_checks.CONSUMES: "Steps before a capability produce the types that it consumes.",
    source_checks.UNDECLARED: "Inputs that steps read are declared.",
    source_checks.UNWRITTEN: "Values that steps read are written by some step.",
    source_checks.UNORDERED: "Steps wait for the steps whose values they read.",
    source_checks.SLOT: "Slots that steps read exist.",
    source_checks.RESEMBLES: "Text that looks like a reference is one.",
    source_checks.OUTPUT_UNWRITTEN: "Some step writes each output.",
    source_checks.OUTPUT_UNDECLARED: "Outputs that steps write are declared.",
    source_checks.OUTPUT_TYPE: "Outputs have their declared types.",
    FLOW: "A step has one kind of control flow.",
}


def lint(
    parsed: Parsed, *, capabilities: Mapping[str, Capability] | None = None, skills: Collection[str] | None = None
) -> tuple[Finding, ...]:
    """Return the findings about a plan. None for `capabilities` or `skills` means that they are unknown.

    The findings of the parser are not among them.
    """
    if parsed.plan is None or parsed.document is None:
        return ()
    problems = Problems(parsed.document)
    wiring = Wiring(parsed.plan, None if capabilities is None else _with_aliases(capabilities))
    CapabilityChecks(wiring, problems, skills).run()
    SourceChecks(wiring, problems).run()
    _flow(parsed.plan, problems)
    return listed(problems.findings)


def _with_aliases(capabilities: Mapping[str, Capability]) -> dict[str, Capability]:
    aliases = {alias: each for each in capabilities.values() for alias in each.aliases}
    return {**aliases, **capabilities}


def _flow(plan: Plan, problems: Problems) -> None:
    for number, step in enumerate(plan.steps):
        for ignored, winner in _ignored(step):
            where = ("steps", number) if ignored == "uses" else ("steps", number, "config")
            message = f"`{ignored}` of step '{step.id}' is ignored, because the step has `{winner}`."
            fix = f"Remove `{ignored}`, or split the step into two."
            problems.add(FLOW, (*where, ignored), message, fix, Severity.WARNING)


def _ignored(step: Step) -> Iterator[tuple[str, str]]:
    """Yield each kind of control flow that another one hides."""
    loops = [("foreach", step.foreach), ("while", step.while_)]
    if step.scatter:
        others = [("uses", step.uses), ("router", step.router), *loops]
        yield from ((name, "scatter") for name, value in others if value)
    elif step.foreach and step.while_:
        yield "while", "foreach"
