"""Checks of a draft in the editor: findings, fixes and token estimates."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.conf import settings

from registry.core import roles
from registry.core.bundle import SKILL_MD, normalise
from registry.core.catalog import token_estimate
from registry.core.catalog.precedence import PROJECT
from registry.core.errors import SkillsiteError, TooLarge
from registry.core.findings import Finding, Severity, in_reading_order
from registry.core.format import skill_form, skill_md
from registry.core.format.skill_md import SkillMd
from registry.core.lint import autofix, rules
from registry.core.lint.name_rules import suggested_name
from registry.core.text.shorten import shorten
from registry.models import Draft, Project
from registry.services.capabilities import capability_registry
from registry.services.catalog import catalog
from registry.services.drafts import drafts
from registry.services.drafts.drafts import Place
from registry.services.permissions import Actor, require
from registry.services.scans import scans
from registry.services.skills import bundles

_MISSING = {
    "name": ("The skill has no name yet.", "Write one of lower-case letters, digits and hyphens: expense-report."),
    "description": ("The skill has no description yet.", "Say what the skill does, then “Use when …”."),
}


@dataclass(frozen=True, slots=True)
class Report:
    """Findings of a draft.

    `parsed` is None if the header is invalid. `first_line` is the line of SKILL.md where the instructions start. `new`
    is true for a new skill, and `taken` are the names it cannot have. `errors` counts the findings that stop the draft
    from being proposed and published, and `blocked` the security findings that stop it from being published.
    """

    findings: tuple[Finding, ...]
    parsed: SkillMd | None = None
    missing: frozenset[str] = frozenset()
    new: bool = False
    taken: frozenset[str] = frozenset()
    errors: int = 0
    blocked: int = 0

    @property
    def tokens(self) -> int:
        return token_estimate.estimate(self.parsed.instructions) if self.parsed else 0

    @property
    def catalog_tokens(self) -> int:
        """Return the token estimate of the skill's line in every prompt."""
        return catalog_tokens(self.parsed.name, self.parsed.description) if self.parsed and not self.missing else 0

    @property
    def first_line(self) -> int:
        if self.parsed is None:
            return 1
        lines = self.parsed.document.body.splitlines()
        blank = next((at for at, line in enumerate(lines) if line.strip()), 0)
        return self.parsed.document.body_line + blank


def catalog_tokens(name: str, description: str) -> int:
    cut = shorten(description, settings.LIMITS.catalog_description_chars)
    return token_estimate.estimate(f"• `{normalise(name)}` — {cut}\n")


def check(project: Project, draft: Draft) -> Report:
    """Check a draft. Invalid input is reported as a finding, never raised."""
    try:
        parsed, missing = _parse(draft)
        bundle = drafts.bundle(draft)
    except SkillsiteError as error:
        findings = error.findings or (_as_finding(error),)
        return Report(findings, errors=sum(each.severity is Severity.ERROR for each in findings))
    names = frozenset(outcome.name for outcome in catalog.view(project.pk, project.revision).skills)
    findings = rules.lint(
        parsed, bundle, authoring=True, known_names=names, directory=draft.name or None, limits=settings.LIMITS,
        capabilities=capability_registry.for_lint(project.pk, bundle),
    )  # fmt: skip
    present = [_for_the_editor(finding, draft) for finding in findings if not _is_about(finding, missing)]
    absent = [Finding(f"{key}-missing", Severity.ERROR, SKILL_MD, None, *_MISSING[key]) for key in missing]
    everything = in_reading_order([*absent, *present, *_name_taken(project, draft, parsed, missing)])
    errors = sum(each.severity is Severity.ERROR and not bundles.left_to_scan(each) for each in everything)
    blocked = scans.blocking(project, bundle.digest, scans.fast_report(findings).findings)
    return Report(everything, parsed, missing, not draft.name, names, errors, len(blocked))


def fix(place: Place, rule: str, line: int | None, *, by: Actor) -> Draft:
    """Fix one finding in the draft, if it can be fixed automatically."""
    require(by, roles.PROPOSE, place.project)
    with drafts.editing(place, by=by) as draft:
        report = check(place.project, draft)
        for finding in report.findings:
            text = fixed_text(finding, report) if (finding.rule, finding.line) == (rule, line) else None
            if text is not None:
                mode = draft.content["mode"]
                draft.content = {**draft.content, "mode": drafts.RAW, "text": text}
                drafts.set_mode(draft, mode)
                break
    return draft


def fixed_text(finding: Finding, report: Report) -> str | None:
    """Return SKILL.md without this finding; None if it cannot be fixed automatically."""
    if report.parsed is None:
        return None
    if finding.rule == "name-pattern" and (not report.new or suggested_name(report.parsed.name) in report.taken):
        return None
    text = autofix.mechanical_fix(finding, report.parsed, limits=settings.LIMITS)
    return None if text is None else skill_form.clear_placeholders(text, report.missing, limits=settings.LIMITS)


def _parse(draft: Draft) -> tuple[SkillMd, frozenset[str]]:
    """Parse the draft. In form mode, also return the required fields that are empty; in code mode they are errors."""
    text = drafts.text(draft)
    if draft.content["mode"] == drafts.FORM:
        return skill_form.read(text, limits=settings.LIMITS)
    return skill_md.read(text, fallback_name=draft.name, limits=settings.LIMITS), frozenset()


def _as_finding(error: SkillsiteError) -> Finding:
    rule = "too-large" if isinstance(error, TooLarge) else error.code
    return Finding(rule, Severity.ERROR, SKILL_MD, None, error.message, "")


def _is_about(finding: Finding, keys: frozenset[str]) -> bool:
    return any(finding.rule.startswith(f"{key}-") for key in keys)


def _for_the_editor(finding: Finding, draft: Draft) -> Finding:
    """Reword the finding about the directory name: in the editor there is no directory to rename."""
    if finding.rule != "name-directory":
        return finding
    message = f"You are editing {draft.name}, but the text has another name."
    return replace(finding, message=message, fix=f"Write `name: {draft.name}`, or copy the skill to a new name.")


def _name_taken(project: Project, draft: Draft, parsed: SkillMd, missing: frozenset[str]) -> Iterator[Finding]:
    """Yield a finding if a new skill has the name of another one. Publishing checks this again."""
    if draft.name or "name" in missing:
        return
    name = normalise(parsed.name)
    effective = catalog.find(project.pk, name)
    if effective is None:
        return
    line = parsed.document.lines.get("name")
    if effective.winner is None or effective.winner.source == PROJECT:
        message = f"The project already has a skill {name}."
        yield Finding("name-taken", Severity.ERROR, SKILL_MD, line, message, "Choose another name, or edit that one.")
    else:
        message = (
            "A built-in skill has this name. Agents will get yours instead, without the files of the built-in one."
        )
        yield Finding("name-hides-bundled", Severity.HINT, SKILL_MD, line, message, "")
