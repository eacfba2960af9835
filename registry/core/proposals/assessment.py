"""Assessment of a change for its reviewer: findings, capabilities, cost, catalog line and risk."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog import token_estimate
from registry.core.errors import SkillsiteError
from registry.core.findings import Finding, Severity
from registry.core.format import skill_md
from registry.core.limits import DEFAULT, Limits
from registry.core.lint import file_rules, rules, security_rules
from registry.core.proposals import capabilities, workflow_change
from registry.core.proposals.capabilities import Difference, Kind
from registry.core.proposals.risk import Risk
from registry.core.text.shorten import one_line, shorten
from registry.core.workflows.capability import Capability

_MANY_TOKENS = 1_000
_HIGH_RISK_RULES = ("hidden-", "link-outside", "name-confusable", *security_rules.RULES, *file_rules.RULES)
_CAPABILITY_REASONS = {
    Kind.SCRIPT: "It adds the script {}.",
    Kind.COMMAND: "It adds the command {}.",
    Kind.HOST: "It adds the host {}.",
    Kind.TOOL: "It uses the tool {}.",
    Kind.VARIABLE: "It reads the environment variable {}.",
}
# A script runs code, and a host or a tool can send text elsewhere.
_HIGH_RISK_KINDS = (Kind.SCRIPT, Kind.HOST, Kind.TOOL)


@dataclass(frozen=True, slots=True)
class Side:
    """The skill before or after the change. All fields are empty if there is no skill or it cannot be parsed."""

    description: str = ""
    line: str = ""  # the description as the catalog shows it in every prompt
    catalog_tokens: int = 0
    tokens: int = 0
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Assessment:
    before: Side
    after: Side
    findings_added: tuple[Finding, ...]
    findings_removed: tuple[Finding, ...]
    capabilities: Difference
    risk: Risk
    reasons: tuple[str, ...]

    @property
    def length(self) -> int:
        """The number of findings, capabilities and reasons, for caches."""
        sides = len(self.before.findings) + len(self.after.findings)
        return 1 + sides + len(self.capabilities.added) + len(self.capabilities.removed) + len(self.reasons)

    @property
    def tokens(self) -> int:
        return self.after.tokens - self.before.tokens

    @property
    def catalog_tokens(self) -> int:
        return self.after.catalog_tokens - self.before.catalog_tokens


def assess(
    before: Bundle | None, after: Bundle | None, *, name: str, limits: Limits = DEFAULT,
    registered: Mapping[str, Capability] | None = None,
) -> Assessment:  # fmt: skip
    """Compare what agents get now with what they would get. None means that there is no skill.

    `registered` are the capabilities that workflows of the project can use, None if they are unknown.
    """
    old, new = _side(before, name, limits, registered), _side(after, name, limits, registered)
    added, removed = _new(new.findings, old.findings), _new(old.findings, new.findings)
    difference = capabilities.difference(_capabilities(before, limits), _capabilities(after, limits))
    workflow = workflow_change.compare(before, after, registered, limits=limits)
    reasons = [*_kind_reasons(before, after, old, new), *_finding_reasons(added), *_capability_reasons(difference)]
    reasons += workflow_change.reasons(workflow)
    if new.tokens - old.tokens >= _MANY_TOKENS:
        reasons.append((Risk.MEDIUM, f"Each load costs about {new.tokens - old.tokens:,} tokens more."))
    order = list(Risk)
    risk = max((risk for risk, _ in reasons), key=order.index, default=Risk.LOW)
    reasons.sort(key=lambda each: -order.index(each[0]))
    return Assessment(old, new, added, removed, difference, risk, tuple(reason for _, reason in reasons))


def _side(bundle: Bundle | None, name: str, limits: Limits, registered: Mapping[str, Capability] | None) -> Side:
    if bundle is None:
        return Side()
    try:
        parsed = skill_md.read(bundle[SKILL_MD], fallback_name=name, limits=limits)
    except SkillsiteError as error:
        return Side(findings=error.findings)
    line = shorten(one_line(parsed.description), limits.catalog_description_chars)
    return Side(
        description=parsed.description,
        line=line,
        catalog_tokens=token_estimate.estimate(f"• `{name}` — {line}\n"),
        tokens=token_estimate.estimate(parsed.instructions),
        findings=rules.lint(parsed, bundle, authoring=True, directory=name, limits=limits, capabilities=registered),
    )


def _capabilities(bundle: Bundle | None, limits: Limits) -> capabilities.Capabilities:
    return capabilities.of(bundle, limits=limits) if bundle is not None else capabilities.Capabilities()


def _new(these: tuple[Finding, ...], those: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings of `these` that are not in `those`. A finding that moved to another line is not new."""
    remaining = Counter((each.rule, each.file, each.message) for each in those)
    result = []
    for each in these:
        key = (each.rule, each.file, each.message)
        if remaining[key]:
            remaining[key] -= 1
        else:
            result.append(each)
    return tuple(result)


def _kind_reasons(
    before: Bundle | None, after: Bundle | None, old: Side, new: Side
) -> Iterator[tuple[Risk, str]]:  # fmt: skip
    if before is None:
        yield Risk.MEDIUM, "It is a new skill, which agents will find in their skill list."
    elif after is None:
        yield Risk.MEDIUM, "Agents will no longer find the skill."
    elif old.line != new.line:
        yield Risk.MEDIUM, "The description changes, which decides when agents choose the skill."


def _finding_reasons(added: tuple[Finding, ...]) -> Iterator[tuple[Risk, str]]:
    for each in added:
        if each.severity is Severity.ERROR or each.rule.startswith(_HIGH_RISK_RULES):
            yield Risk.HIGH, f"{each.place}: {each.message}"
        elif each.severity is Severity.WARNING:
            yield Risk.MEDIUM, f"{each.place}: {each.message}"


def _capability_reasons(difference: Difference) -> Iterator[tuple[Risk, str]]:
    for each in difference.added:
        risk = Risk.HIGH if each.kind in _HIGH_RISK_KINDS else Risk.MEDIUM
        yield risk, _CAPABILITY_REASONS[each.kind].format(each.name)
    for each in difference.changed:
        yield Risk.HIGH, f"It changes the script {each.name}."
    if difference.partial:
        yield Risk.HIGH, "There is too much text to check all of it, so this list may be incomplete."
