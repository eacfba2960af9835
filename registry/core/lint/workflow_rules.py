"""Lint rules about `workflow.yaml`. A skill without one is not slowed down."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from registry.core.bundle import Bundle
from registry.core.findings import Finding, Severity
from registry.core.limits import Limits
from registry.core.lint.context import LintContext
from registry.core.workflows import workflow_lint, workflow_yaml
from registry.core.workflows.plan import FILE, SKILL_PREFIX

RULES = {**workflow_lint.STRUCTURE, **workflow_lint.WIRING}
QUALITY = tuple(workflow_lint.WIRING)

# CPU time to read a workflow: at least, and for each byte of the slowest ones.
_SECONDS, _SECONDS_PER_BYTE = 1e-3, 1e-5


def workflow(context: LintContext) -> Iterator[Finding]:
    """Yield the findings about the workflow. One that only misbehaves is stored if it is imported."""
    if FILE not in context.bundle:
        return
    parsed = workflow_yaml.parse(context.bundle[FILE], limits=context.limits)
    yield from parsed.findings
    for finding in workflow_lint.lint(parsed, capabilities=context.capabilities, skills=context.known_names):
        fatal = finding.severity is Severity.ERROR
        yield replace(finding, severity=context.author_severity) if fatal else finding


def nested_skills(bundle: Bundle, *, limits: Limits) -> tuple[str, ...]:
    """Return the names of the skills that the workflow of a bundle uses."""
    plan = workflow_yaml.parse(bundle[FILE], limits=limits).plan if FILE in bundle else None
    used = plan.used if plan else ()
    return tuple(name.removeprefix(SKILL_PREFIX) for name in used if name.startswith(SKILL_PREFIX))


def refusals(bundle: Bundle, limits: Limits) -> tuple[Finding, ...]:
    """Return the errors of a workflow that is not written here: it is not a plan."""
    if FILE not in bundle:
        return ()
    found = workflow_yaml.parse(bundle[FILE], limits=limits).findings
    return tuple(finding for finding in found if finding.severity is Severity.ERROR)


def refusal_seconds(bundle: Bundle, limits: Limits) -> float:
    """Return the CPU time that `refusals` needs at most."""
    if FILE not in bundle:
        return 0.0
    return _SECONDS + _SECONDS_PER_BYTE * min(len(bundle[FILE]), limits.frontmatter_bytes)


CHECKS: tuple[Callable[[LintContext], Iterator[Finding]], ...] = (workflow,)
