"""What is to be said about a draft while it is written: findings with their places, and what it will cost."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.conf import settings

from registry.core import roles
from registry.core.bundle import SKILL_MD, normalise
from registry.core.catalog import token_estimate
from registry.core.catalog.precedence import PROJECT
from registry.core.catalog.prompt import shorten
from registry.core.errors import SkillsiteError, TooLarge
from registry.core.findings import Finding, Severity, in_reading_order
from registry.core.format import skill_form, skill_md
from registry.core.format.skill_md import SkillMd
from registry.core.lint import autofix, rules
from registry.core.lint.name_rules import suggested_name
from registry.models import Draft, Project
from registry.services.catalog import catalog
from registry.services.drafts import drafts
from registry.services.drafts.drafts import Place
from registry.services.permissions import Actor, require

_MISSING = {
    "name": ("The skill has no name yet.", "Write one of lower-case letters, digits and hyphens: expense-report."),
    "description": ("There is no description yet.", "Say what the skill does, then “Use when …”."),
}


@dataclass(frozen=True, slots=True)
class Report:
    """`said` is None where the header cannot be read. `first_line` is where the instructions start in SKILL.md.
    `new` is true for a skill that agents do not know by a name yet, and `taken` are the names it cannot have."""

    findings: tuple[Finding, ...]
    said: SkillMd | None = None
    missing: frozenset[str] = frozenset()
    new: bool = False
    taken: frozenset[str] = frozenset()

    @property
    def tokens(self) -> int:
        return token_estimate.estimate(self.said.instructions) if self.said else 0

    @property
    def line_tokens(self) -> int:
        """About what the line in the catalog costs every agent, whether it loads the skill or not."""
        return line_tokens(self.said.name, self.said.description) if self.said and not self.missing else 0

    @property
    def first_line(self) -> int:
        if self.said is None:
            return 1
        lines = self.said.document.body.splitlines()
        blank = next((at for at, line in enumerate(lines) if line.strip()), 0)
        return self.said.document.body_line + blank


def line_tokens(name: str, description: str) -> int:
    cut = shorten(description, settings.LIMITS.catalog_description_chars)
    return token_estimate.estimate(f"• `{normalise(name)}` — {cut}\n")


def report(project: Project, draft: Draft) -> Report:
    """Everything there is to say. Nothing that was typed makes it raise."""
    try:
        said, missing = _read(draft)
        bundle = drafts.bundle(draft)
    except SkillsiteError as error:
        return Report(error.findings or (_as_finding(error),))
    names = frozenset(outcome.name for outcome in catalog.view(project.pk, project.revision).skills)
    found = rules.lint(
        said, bundle, authoring=True, known_names=names, directory=draft.name or None, limits=settings.LIMITS
    )
    kept = [_in_the_editor(finding, draft) for finding in found if not _is_about(finding, missing)]
    absent = [Finding(f"{key}-missing", Severity.ERROR, SKILL_MD, None, *_MISSING[key]) for key in missing]
    everything = in_reading_order([*absent, *kept, *_name_taken(project, draft, said, missing)])
    return Report(everything, said, missing, new=not draft.name, taken=names)


def fix(place: Place, rule: str, line: int | None, *, by: Actor) -> Draft:
    """Puts one finding right where a machine can do it without a choice; else the draft stays as it is."""
    require(by, roles.PROPOSE, place.project)
    with drafts.editing(place, by=by) as draft:
        seen = report(place.project, draft)
        for finding in seen.findings:
            text = mended(finding, seen) if (finding.rule, finding.line) == (rule, line) else None
            if text is not None:
                mode = draft.content["mode"]
                draft.content = {**draft.content, "mode": drafts.RAW, "text": text}
                drafts.switched(draft, mode)
                break
    return draft


def mended(finding: Finding, seen: Report) -> str | None:
    """SKILL.md with this one thing put right; None where a person has to decide."""
    if seen.said is None:
        return None
    if finding.rule == "name-pattern" and (not seen.new or suggested_name(seen.said.name) in seen.taken):
        return None
    text = autofix.mechanical_fix(finding, seen.said, limits=settings.LIMITS)
    return None if text is None else skill_form.clear_placeholders(text, seen.missing, limits=settings.LIMITS)


def _read(draft: Draft) -> tuple[SkillMd, frozenset[str]]:
    """The form counts a missing name as an empty field; in the exact text it is a fault like any other."""
    text = drafts.text(draft)
    if draft.content["mode"] == drafts.FORM:
        return skill_form.read(text, limits=settings.LIMITS)
    return skill_md.read(text, fallback_name=draft.name, limits=settings.LIMITS), frozenset()


def _as_finding(error: SkillsiteError) -> Finding:
    rule = "too-large" if isinstance(error, TooLarge) else error.code
    return Finding(rule, Severity.ERROR, SKILL_MD, None, error.message, "")


def _is_about(finding: Finding, keys: frozenset[str]) -> bool:
    return any(finding.rule.startswith(f"{key}-") for key in keys)


def _in_the_editor(finding: Finding, draft: Draft) -> Finding:
    """Somebody who edits in a browser has no directory to rename."""
    if finding.rule != "name-directory":
        return finding
    message = f"This edit is of {draft.name}, and its text gives another name."
    return replace(finding, message=message, fix=f"Write `name: {draft.name}`, or copy the skill to a new name.")


def _name_taken(project: Project, draft: Draft, said: SkillMd, missing: frozenset[str]) -> Iterator[Finding]:
    """Said while writing a new skill; the verb that stores it decides again."""
    if draft.name or "name" in missing:
        return
    name = normalise(said.name)
    standing = catalog.find(project.pk, name)
    if standing is None:
        return
    line = said.document.lines.get("name")
    if standing.winner is None or standing.winner.source == PROJECT:
        message = f"The project has a skill of this name: {name}."
        yield Finding("name-taken", Severity.ERROR, SKILL_MD, line, message, "Choose another name, or edit that one.")
    else:
        message = "A bundled skill has this name; yours will hide it, its files too."
        yield Finding("name-hides-bundled", Severity.HINT, SKILL_MD, line, message, "")
