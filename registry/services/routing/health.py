"""Health of skills in routing: those that route alike, that lose their own description, or that no question tests.

The findings need the index of the project. While it is being built, there are none.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from registry.core.bundle import SKILL_MD, normalise
from registry.core.catalog.precedence import Candidate
from registry.core.findings import Category, Finding, Severity
from registry.core.format.skill_md import SkillMd
from registry.lib.lru import LruCache
from registry.models import Project
from registry.services.catalog import built_in, catalog
from registry.services.routing import golden_set, indexes, ranking
from registry.services.routing.changes import ChangedSkill
from registry.services.routing.ranking import Ranked

ROUTES_ALIKE, NO_TEST_QUESTION, LOSES = "routes-alike", "no-test-question", "loses-own-description"
RULES = {
    ROUTES_ALIKE: "Descriptions and triggers tell a skill from the others.",
    NO_TEST_QUESTION: "A test question covers each skill.",
    LOSES: "The description of a skill finds the skill.",
}
PAGE_SECONDS = 2.0
# Two skills are alike if the description of one gives the other this share of its own score. In public sets, skills
# that people mix up have 0.8 and more, and most neighbours have less than 0.65.
_ALIKE = 0.75
_DESCRIPTION_CHARS = 400  # an agent sees 200 of them
_CHUNK = 8
_RIVALS = 5  # other skills with a trigger of a skill, of which a finding is made


@dataclass(frozen=True, slots=True)
class Health:
    """The findings by the name of the skill, the worst skills first. `checked` of `total` skills fitted in the time."""

    findings: Mapping[str, tuple[Finding, ...]]
    checked: int
    total: int


_found: LruCache[tuple[str, int, int, str], tuple[Finding, ...]] = LruCache(20_000)
_covered: LruCache[tuple[int, int], frozenset[str]] = LruCache(200)  # {""} without test questions
_triggers: LruCache[tuple[str, int, int], dict[str, list[str]]] = LruCache(16)


def of_project(project: Project, *, seconds: float = PAGE_SECONDS) -> Health:
    """Return the findings of all skills that agents get, as many as fit in the time."""
    served = catalog.view(project.pk, project.revision).served
    stop, checked = time.monotonic() + seconds, 0
    findings: dict[str, tuple[Finding, ...]] = {}
    if indexes.of(project.pk, project.revision).missing:
        return Health({}, 0, len(served))
    while checked < len(served) and time.monotonic() < stop:
        chunk = served[checked : checked + _CHUNK]
        findings.update(zip((each.name for each in chunk), _of_candidates(project, chunk), strict=True))
        checked += len(chunk)
    rows = sorted((item for item in findings.items() if item[1]), key=lambda item: (-len(item[1]), item[0]))
    return Health(dict(rows), checked, len(served))


def of_skill(project: Project, name: str) -> tuple[Finding, ...]:
    """Return the findings of one skill; none if agents do not get it."""
    skill = catalog.find(project.pk, name)
    if skill is None or skill.winner is None or not skill.served or indexes.of(project.pk, project.revision).missing:
        return ()
    return _of_candidates(project, [skill.winner])[0]


def of_draft(project: Project, name: str, parsed: SkillMd) -> tuple[Finding, ...]:
    """Return the findings of a skill as somebody is writing it."""
    if not catalog.view(project.pk, project.revision).skills or indexes.of(project.pk, project.revision).missing:
        return ()
    change = [ChangedSkill(name, parsed.document.text.encode())]
    query = parsed.description[:_DESCRIPTION_CHARS]
    (ranked,) = ranking.rank_each(project.pk, project.revision, [query], change=change)
    name, line = normalise(name), parsed.document.lines.get("description")
    others = _shared_triggers(project, name, parsed.triggers)
    return (*_about(name, ranked, others, line), *_untested(project, name))


def _of_candidates(project: Project, chosen: Sequence[Candidate]) -> list[tuple[Finding, ...]]:
    keys = [(built_in.snapshot().fingerprint, project.pk, project.revision, each.name) for each in chosen]
    missing = [each for key, each in zip(keys, chosen, strict=True) if _found.get(key) is None]
    queries = [each.description[:_DESCRIPTION_CHARS] for each in missing]
    ranked = ranking.rank_each(project.pk, project.revision, queries) if queries else []
    for each, answer in zip(missing, ranked, strict=True):
        others = _shared_triggers(project, each.name, each.triggers)
        findings = (*_about(each.name, answer, others), *_untested(project, each.name))
        _found.put((*keys[0][:3], each.name), findings)
    return [_found.get(key) or () for key in keys]


def _about(name: str, ranked: Ranked, others: Mapping[str, str], line: int | None = None) -> list[Finding]:
    """Return the findings about the description, whose ranking is `ranked`, and about triggers of other skills."""
    scores = dict(zip(ranked.names, ranked.scores, strict=True))
    rival = next((other for other in scores if other != name), "")
    own = scores.get(name, 0.0)
    findings = []
    if rival and scores[rival] > own:
        message = f"Its own description finds {rival} and not this skill."
        fix = f"Say in the description what only this skill does, and when to use {rival} instead."
        findings.append(_finding(LOSES, Severity.WARNING, message, fix, line))
    elif rival and own > 0 and scores[rival] >= _ALIKE * own:
        message = f"Its description routes almost like that of {rival}. Agents can mix them up."
        fix = "Say in both descriptions what tells them apart, or merge the skills."
        findings.append(_finding(ROUTES_ALIKE, Severity.WARNING, message, fix, line))
    for other, trigger in others.items():
        message = f"The trigger “{trigger}” is also a trigger of {other}."
        findings.append(_finding(ROUTES_ALIKE, Severity.WARNING, message, "Keep it in one of the two skills.", line))
    return findings


def _untested(project: Project, name: str) -> list[Finding]:
    """Return a hint if the project has test questions, and none of them expects the skill."""
    key = project.pk, project.revision
    covered = _covered.get(key)
    if covered is None:
        cases = golden_set.all_of(project.pk)
        covered = frozenset(name for case in cases for name in case.expected) if cases else frozenset({""})
        _covered.put(key, covered)
    if "" in covered or name in covered:
        return []
    message = "No test question expects this skill, so an evaluation does not notice if agents stop finding it."
    return [_finding(NO_TEST_QUESTION, Severity.HINT, message, "Add a test question on the page “Routing”.", None)]


def _shared_triggers(project: Project, name: str, triggers: Sequence[str]) -> dict[str, str]:
    """Return the first other skills that have one of these triggers, with the trigger."""
    if not triggers:
        return {}
    key = (built_in.snapshot().fingerprint, project.pk, project.revision)
    owners = _triggers.get(key)
    if owners is None:
        owners = {}
        for each in catalog.view(project.pk, project.revision).served:
            for trigger in each.triggers:
                names = owners.setdefault(_plain(trigger), [])
                if len(names) <= _RIVALS:  # one more, because a skill is no rival of itself
                    names.append(each.name)
        _triggers.put(key, owners)
    shared = ((other, trigger) for trigger in triggers for other in owners.get(_plain(trigger), ()) if other != name)
    return dict(list(dict(shared).items())[:_RIVALS])


def _plain(trigger: str) -> str:
    return " ".join(trigger.casefold().replace("-", " ").split())


def _finding(rule: str, severity: Severity, message: str, fix: str, line: int | None) -> Finding:
    return Finding(rule, severity, SKILL_MD, line, message, fix, Category.QUALITY)
