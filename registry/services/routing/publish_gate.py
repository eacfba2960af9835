"""The routing gate of a project: a change that makes routing fail is published only with a reason.

`check` runs before the transaction that publishes, and `require` inside it. Both route the whole golden set, which is
bounded. The second one finds the result of the first in a cache, unless somebody changed the project in between.
"""

from registry.core.bundle import SKILL_MD
from registry.core.errors import InvalidRequest, RoutingGateFailed
from registry.core.findings import Category, Finding, Severity, shorten
from registry.models import Project, RoutingSettings
from registry.services.audit import Change
from registry.services.permissions import Actor
from registry.services.routing import impact
from registry.services.routing.changes import ChangedSkill
from registry.services.routing.impact import Impact, Moved

REASON_CHARS = 300
RULE = "routing-gate"
_LISTED = 20  # lost questions in a refusal


def check(project: Project, name: str, content: bytes, *, reason: str, by: Actor) -> Impact | None:
    """Raise RoutingGateFailed if the project does not publish this SKILL.md without a reason.

    Return the impact if a person overrides the gate, otherwise None. An agent cannot override it: agents would give a
    reason every time, and they never see the test questions.
    """
    revision = (
        RoutingSettings.objects.filter(project_id=project.pk, blocking=True)
        .values_list("project__revision", flat=True)
        .first()
    )
    if revision is None:
        return None
    found = impact.of_change(project, [ChangedSkill(name, content)], seconds=None, revision=revision)
    if not found.needs_reason:
        return None
    if not _checked(reason) or by.agent_id is not None:
        raise _refusal(name, found, by)
    return found


def require(project: Project, name: str, content: bytes, *, reason: str, change: Change) -> None:
    """Check the change inside its transaction, and record the reason of an override in its event."""
    overridden = check(project, name, content, reason=reason, by=change.by)
    if overridden is not None:
        change.data["gate_reason"] = _checked(reason)
        change.data["gate"] = list(overridden.verdict.reasons)


def _checked(reason: str) -> str:
    reason = " ".join(reason.split())
    if "\0" in reason:
        raise InvalidRequest(
            "The reason contains a NUL character. Remove it. Nothing was published.", field="gate_reason"
        )
    if len(reason) > REASON_CHARS:
        raise InvalidRequest(
            f"The reason has {len(reason):,} characters. {REASON_CHARS} are allowed. Nothing was published.",
            field="gate_reason",
        )
    return reason


def _refusal(name: str, found: Impact, by: Actor) -> RoutingGateFailed:
    lost = len(found.worse)
    questions = f"{lost:,} test question{'' if lost == 1 else 's'}"
    what = f"the routing gate refuses it. {questions} would get a worse answer. {' '.join(found.verdict.reasons)}"
    if by.agent_id is not None:
        way_on = "Change the skill, or propose it. Only people can publish it anyway."
    else:
        way_on = "Change the skill, or give a reason to publish it anyway."
    findings = [] if by.agent_id is not None else [_finding(each) for each in found.worse[:_LISTED]]
    return RoutingGateFailed(
        f"{name} cannot be published: {what} {way_on} Nothing was published.",
        field="gate_reason",
        findings=findings,
        reasons=list(found.verdict.reasons),
        lost=lost,
    )


def _finding(moved: Moved) -> Finding:
    before, after = moved.before or "no skill", moved.after or "no skill"
    expected = f"It should find {' or '.join(moved.expected)}." if moved.expected else "It should find no skill."
    if moved.stale:
        message = f"“{shorten(moved.query)}” can no longer be judged, because its skill is gone."
    elif before == after:
        then = f"at place {moved.rank_after}" if moved.rank_after else "no longer"
        message = (
            f"“{shorten(moved.query)}” finds its skill at place {moved.rank_before} now, and {then} after the change."
        )
    else:
        message = f"“{shorten(moved.query)}” finds {before} now, and {after} after the change."
    return Finding(RULE, Severity.WARNING, SKILL_MD, None, message, expected, Category.QUALITY)
