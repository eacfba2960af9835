"""What a reviewer wants to know about a change before they decide: findings, capabilities, cost, catalog and risk."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog import prompt, token_estimate
from registry.core.errors import SkillsiteError
from registry.core.findings import Finding, Severity
from registry.core.format import skill_md
from registry.core.limits import DEFAULT, Limits
from registry.core.lint import danger_rules, rules
from registry.core.proposals import capabilities
from registry.core.proposals.capabilities import Difference, Kind

_MANY_TOKENS = 1_000
_GRAVE_RULES = ("hidden-", "link-outside", "name-confusable", *danger_rules.RULES)
_SAID = {
    Kind.SCRIPT: "It adds the script {}.",
    Kind.COMMAND: "It adds the command {}.",
    Kind.HOST: "It adds the host {}.",
    Kind.TOOL: "It asks for the tool {}.",
    Kind.VARIABLE: "It reads the environment variable {}.",
}
# A host, a tool or a script lets text leave the machine or code run on it; a reviewer looks at those first.
_HIGH = (Kind.SCRIPT, Kind.HOST, Kind.TOOL)


class Risk(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Side:
    """The skill before or after the change, as far as it can be read; all empty where there is none."""

    description: str = ""
    line: str = ""  # what the catalog says in every prompt
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
    def tokens(self) -> int:
        return self.after.tokens - self.before.tokens

    @property
    def catalog_tokens(self) -> int:
        return self.after.catalog_tokens - self.before.catalog_tokens


def assess(before: Bundle | None, after: Bundle | None, *, name: str, limits: Limits = DEFAULT) -> Assessment:
    """`before` is what agents get now, `after` what they would get; None where that is nothing."""
    old, new = _side(before, name, limits), _side(after, name, limits)
    added, removed = _new(new.findings, old.findings), _new(old.findings, new.findings)
    found = capabilities.difference(_of(before, limits), _of(after, limits))
    weighed = [*_weigh_kind(before, after, old, new), *_weigh_findings(added), *_weigh_capabilities(found)]
    if new.tokens - old.tokens >= _MANY_TOKENS:
        weighed.append((Risk.MEDIUM, f"Each load costs about {new.tokens - old.tokens:,} tokens more."))
    order = list(Risk)
    risk = max((risk for risk, _ in weighed), key=order.index, default=Risk.LOW)
    weighed.sort(key=lambda each: -order.index(each[0]))
    return Assessment(old, new, added, removed, found, risk, tuple(reason for _, reason in weighed))


def _side(bundle: Bundle | None, name: str, limits: Limits) -> Side:
    if bundle is None:
        return Side()
    try:
        said = skill_md.read(bundle[SKILL_MD], fallback_name=name, limits=limits)
    except SkillsiteError as error:
        return Side(findings=error.findings)
    line = prompt.shorten(prompt.one_line(said.description), limits.catalog_description_chars)
    return Side(
        description=said.description,
        line=line,
        catalog_tokens=token_estimate.estimate(f"• `{name}` — {line}\n"),
        tokens=token_estimate.estimate(said.instructions),
        findings=rules.lint(said, bundle, authoring=True, directory=name, limits=limits),
    )


def _of(bundle: Bundle | None, limits: Limits) -> capabilities.Capabilities:
    return capabilities.of(bundle, limits=limits) if bundle is not None else capabilities.Capabilities()


def _new(these: tuple[Finding, ...], those: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings of `these` that `those` lack. A finding that only moved to another line is not new."""
    left = Counter((each.rule, each.file, each.message) for each in those)
    result = []
    for each in these:
        key = (each.rule, each.file, each.message)
        if left[key]:
            left[key] -= 1
        else:
            result.append(each)
    return tuple(result)


def _weigh_kind(
    before: Bundle | None, after: Bundle | None, old: Side, new: Side
) -> Iterator[tuple[Risk, str]]:  # fmt: skip
    if before is None:
        yield Risk.MEDIUM, "It is a new skill: agents will find it in their catalog."
    elif after is None:
        yield Risk.MEDIUM, "Agents will not find the skill any more."
    elif old.line != new.line:
        yield Risk.MEDIUM, "The description changes, and with it when agents choose the skill."


def _weigh_findings(added: tuple[Finding, ...]) -> Iterator[tuple[Risk, str]]:
    for each in added:
        place = f"{each.file}, line {each.line}" if each.line else each.file
        if each.severity is Severity.ERROR or each.rule.startswith(_GRAVE_RULES):
            yield Risk.HIGH, f"{place}: {each.message}"
        elif each.severity is Severity.WARNING:
            yield Risk.MEDIUM, f"{place}: {each.message}"


def _weigh_capabilities(found: Difference) -> Iterator[tuple[Risk, str]]:
    for each in found.added:
        yield (Risk.HIGH if each.kind in _HIGH else Risk.MEDIUM), _SAID[each.kind].format(each.name)
    for each in found.changed:
        yield Risk.HIGH, f"It changes the script {each.name}."
    if found.partial:
        yield Risk.HIGH, "There is too much text to look through, so more may be in it than is listed here."
