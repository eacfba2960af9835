"""Control flow in the `config` of a step: retries, loops, routes, scatters and approvals."""

from registry.core import roles
from registry.core.format.strict_yaml import Path
from registry.core.workflows import names, plan
from registry.core.workflows.expressions import ExpressionError
from registry.core.workflows.expressions import parse as parse_expression
from registry.core.workflows.plan import Approvers, Foreach, Retry, Router, Scatter, While
from registry.core.workflows.sections import VALUE, Bounds, Section, shown
from registry.core.workflows.targets import READ_ONLY, WRITABLE

EXPRESSION, CAPABILITY, LOCAL = "workflow-expression", "workflow-uses", "workflow-local-name"
APPROVERS = "workflow-approvers"

ATTEMPTS = Bounds(1, 20, integer=True)
BACKOFF_SECONDS = Bounds(0, 3_600)
BACKOFF_MULTIPLIER = Bounds(1, 10)
ITERATIONS = Bounds(1, plan.MOST_ITERATIONS, integer=True)
APPROVALS = Bounds(1, 20, integer=True)
FEWEST_SCATTER = 2
MOST_CASES = 100
USER_NAME_CHARS = 150

_USES_FIX = "Write the id of a capability, such as `text.template`, or `skill:NAME` for a nested skill."


def expression(section: Section, key: str, *, required: bool = False) -> str:
    """Read an expression. A problem names the column."""
    text = section.text(key).strip()
    if text:
        try:
            parse_expression(text)
        except ExpressionError as error:
            section.problem(EXPRESSION, key, "is not a valid expression.", str(error))
    elif required and section.get(key) is None:
        section.missing(key, "Add an expression, such as `vars.items`.")
    elif isinstance(section.get(key), str):
        section.refuse(key, "", "an expression, such as `vars.score > 0.8`")
    return text


def used(section: Section, path: Path, text: str) -> str:
    """Check the name of a capability or a nested skill. Empty if it is not one."""
    if names.is_used(text):
        return text
    section.problems.add(CAPABILITY, path, f"{shown(text)}{section.owner} is not the id of a capability.", _USES_FIX)
    return ""


def retry(config: Section) -> Retry | None:
    section = config.section("retry")
    if section is None:
        return None
    usual = Retry()
    found = Retry(
        section.integer("max_attempts", ATTEMPTS, usual.max_attempts),
        section.number("backoff_seconds", BACKOFF_SECONDS, usual.backoff_seconds),
        section.number("backoff_multiplier", BACKOFF_MULTIPLIER, usual.backoff_multiplier),
    )
    section.unknown_keys()
    return found


def foreach(config: Section) -> Foreach | None:
    section = config.section("foreach")
    if section is None:
        return None
    items = expression(section, "items", required=True)
    as_, index_as = _local(section, "as", "item"), _local(section, "index_as", "index")
    section.unknown_keys()
    if as_ == index_as:
        section.problem(LOCAL, "index_as", "is the same name as `as`.", "Choose another name.")
    return Foreach(items, as_, index_as)


def _local(section: Section, key: str, usual: str) -> str:
    name = section.text(key) or usual
    if not names.is_field_name(name):
        section.problem(
            LOCAL, key, f"cannot be {shown(name)}.", "Use letters, digits, `_` and `-`, with a letter at the start."
        )
    elif name in WRITABLE or name in READ_ONLY:
        section.problem(LOCAL, key, f"cannot be `{name}`, which has a meaning of its own.", "Choose another name.")
    return name


def while_(config: Section) -> While | None:
    section = config.section("while")
    if section is None:
        return None
    condition = expression(section, "condition", required=True)
    most = section.integer("max_iterations", ITERATIONS, 10)
    section.unknown_keys()
    return While(condition, most)


def router(config: Section) -> Router | None:
    section = config.section("router")
    if section is None:
        return None
    on, default = expression(section, "on", required=True), section.text("default")
    if default:
        default = used(section, (*section.path, "default"), default)
    cases = section.section("cases")
    section.unknown_keys()
    if cases is None or not cases.value:
        section.problem(VALUE, "cases", "has no case.", "Write one `VALUE: CAPABILITY` for each case.")
        return Router(on, {}, default)
    if len(cases.value) > MOST_CASES:
        section.problem(
            VALUE, "cases", f"has {len(cases.value):,} cases. {MOST_CASES} are allowed.", "Split the step into two."
        )
    return Router(on, {key: used(cases, (*cases.path, key), _case(cases, key)) for key in cases.value}, default)


def _case(cases: Section, key: str) -> str:
    return cases.text(key, most=names.ID_CHARS + len(plan.SKILL_PREFIX), expected="the id of a capability")


def scatter(config: Section) -> Scatter | None:
    section = config.section("scatter")
    if section is None:
        return None
    listed = section.texts("capabilities", "the id of a capability")
    merge = section.choice("merge", plan.SCATTER_MERGES, plan.COLLECT)
    section.unknown_keys()
    path = (*section.path, "capabilities")
    seen: set[str] = set()
    for at, name in enumerate(listed):
        used(section, (*path, at), name)
        if name in seen:
            section.problems.add(
                CAPABILITY, (*path, at), f"`{name}` is listed twice{section.owner}.", "Remove one of them."
            )
        seen.add(name)
    refused = not isinstance(section.get("capabilities"), list | None)
    if not refused and not FEWEST_SCATTER <= len(listed) <= plan.MOST_SCATTER:
        message = f"has {len(listed):,} entries. {FEWEST_SCATTER} to {plan.MOST_SCATTER} are allowed."
        section.problem(VALUE, "capabilities", message, "List capabilities to call with the same input.")
    return Scatter(listed, merge)


def approvers(config: Section) -> Approvers | None:
    section = config.section("approvers")
    if section is None:
        return None
    people = tuple(dict.fromkeys(section.texts("people", "the username of a person")))
    named_roles = tuple(dict.fromkeys(section.texts("roles", f"one of {', '.join(roles.ROLES)}")))
    count = section.integer("count", APPROVALS, 1)
    section.unknown_keys()
    for at, name in enumerate(people):
        if len(name) > USER_NAME_CHARS:
            message = f"{section.label('people')} has a name of {len(name):,} characters."
            section.problems.add(APPROVERS, (*section.path, "people", at), message, "Write the username of a person.")
    for role in named_roles:
        if role not in roles.ROLES:
            message, fix = f"has the unknown role {shown(role)}.", f"Use some of {', '.join(roles.ROLES)}."
            section.problem(APPROVERS, "roles", message, fix)
    if people and not named_roles and count > len(people):
        message = f"is {count}, but only {len(people)} may approve, so the step can never go on."
        section.problem(APPROVERS, "count", message, "Name more people, or lower it.")
    return Approvers(people, named_roles, count)
