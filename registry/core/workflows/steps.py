"""Steps of a workflow file."""

from collections.abc import Mapping
from dataclasses import dataclass

from registry.core.findings import Severity
from registry.core.workflows import control_flow, heading, names, plan, targets
from registry.core.workflows.control_flow import CAPABILITY, expression
from registry.core.workflows.graph import Node
from registry.core.workflows.plan import Router, Scatter, Step
from registry.core.workflows.sections import IGNORED, MISSING, VALUE, Bounds, Section, as_text, shown
from registry.core.workflows.values import Json

TARGET = "workflow-target"
TIMEOUT_SECONDS = Bounds(0, 86_400, above=True)
EXPIRES_SECONDS = Bounds(1, 90 * 86_400)
FIELD_CHARS = 200  # of a produced field, with the id of a capability in it

# Keys that other formats have, by the place where people write them.
_OLD_KEYS = {
    "input_mapping": ("is not read.", "Rename it to `input`."),
    "output_mapping": ("is not read.", "Rename it to `output`."),
}
_CONFIG_KEYS = (
    "depends_on", "timeout_seconds", "merge_strategy", "condition", "retry", "foreach", "while", "router", "scatter",
    "approvers", "expires_seconds", "on_deny",
)  # fmt: skip
_MISPLACED = {
    **_OLD_KEYS,
    **{key: ("is in the wrong place.", f"Move it below `config`: `config.{key}`.") for key in _CONFIG_KEYS},
}
_MISPLACED_IN_CONFIG = {
    **_OLD_KEYS,
    **dict.fromkeys(("id", "uses", "input", "output"), ("is in the wrong place.", "Move it out of `config`.")),
}
_PLACEHOLDERS = ("_scatter", "_router")


@dataclass(frozen=True, slots=True)
class Read:
    """A step as it is written. Its dependencies in `step` are not complete before the graph is known."""

    step: Step
    node: Node
    section: Section


def read(section: Section, number: int) -> Read:
    """Read a step. `number` names it in messages if it has no id."""
    written = as_text(section.problems, (*section.path, "id"), section.value.get("id")) or ""
    owner = f" of step '{written}'" if names.is_step_id(written) else f" of step {number}"
    section = Section(section.problems, section.path, section.value, owner)
    id_ = _id(section)
    config = section.section("config") or Section(section.problems, section.path, {}, owner, "config.")
    router, scatter = control_flow.router(config), control_flow.scatter(config)
    uses = _uses(section, router, scatter)
    input_, output = _input(section), _output(section)
    section.unknown_keys(_MISPLACED)
    node = Node(id_, _depends_on(config), config.text("on_deny"), section.path)
    step = Step(
        id=id_,
        uses=uses,
        input=input_,
        output=output,
        timeout_seconds=config.number("timeout_seconds", TIMEOUT_SECONDS, plan.DEFAULT_TIMEOUT_SECONDS),
        merge_strategy=config.choice("merge_strategy", plan.STRATEGIES, plan.OVERWRITE),
        condition=expression(config, "condition"),
        retry=control_flow.retry(config),
        foreach=control_flow.foreach(config),
        while_=control_flow.while_(config),
        router=router,
        scatter=scatter,
        approvers=control_flow.approvers(config),
        expires_seconds=config.number("expires_seconds", EXPIRES_SECONDS, 0) or None,
        on_deny=node.on_deny,
        line=section.problems.document.line(section.path),
    )
    config.unknown_keys(_MISPLACED_IN_CONFIG)
    return Read(step, node, section)


def _id(section: Section) -> str:
    id_ = section.text("id")
    if section.get("id") is None:
        section.missing("id", "Add `id:` with a short name that no other step has.")
    elif not names.is_step_id(id_) and (id_ or section.get("id") == ""):
        fix = "Use letters, digits, `_` and `-`, at most 64, with a letter or digit at the start."
        section.problem(heading.ID, "id", f"cannot be {shown(id_)}.", fix)
    return id_


def _uses(section: Section, router: Router | None, scatter: Scatter | None) -> str:
    text = section.text("uses")
    if text in _PLACEHOLDERS and (router or scatter):
        section.problem(IGNORED, "uses", "is not needed here.", "Remove it.", Severity.HINT)
        return ""
    if text:
        return control_flow.used(section, (*section.path, "uses"), text)
    if section.get("uses") is None and not router and not scatter:
        section.problem(MISSING, "uses", "is missing.", "Add `uses:` with the id of a capability or `skill:NAME`.")
    elif section.get("uses") == "":
        section.problem(CAPABILITY, "uses", "is empty.", "Write the id of a capability, or `skill:NAME`.")
    return ""


def _depends_on(config: Section) -> tuple[str, ...] | None:
    if "depends_on" not in config.value:
        config.get("depends_on")
        return None
    if config.get("depends_on") is None:
        config.problem(
            VALUE, "depends_on", "is empty.", "Write `[]` for a step that waits for none, or remove the key."
        )
    return config.texts("depends_on", "a list of step ids, such as `[first, second]`")


def _input(section: Section) -> Mapping[str, Json]:
    mapped = section.section("input")
    return mapped.value if mapped else {}


def _output(section: Section) -> Mapping[str, str] | None:
    mapped = section.section("output")
    if mapped is None:
        return None
    found = {}
    for field in mapped.value:
        target = mapped.text(field, most=FIELD_CHARS, expected="a target, such as `vars.result`")
        if len(field) > FIELD_CHARS:
            mapped.problem(VALUE, field, "is too long.", "Write the name of a field that the capability returns.")
        elif not target:
            if mapped.value[field] in (None, ""):
                mapped.problem(TARGET, field, "has no target.", "Write a target, such as `vars.result`.")
        elif fault := targets.fault(target):
            mapped.problem(TARGET, field, f"writes to {shown(target)}, which {fault[0]}.", fault[1])
        else:
            found[field] = target
    return found
