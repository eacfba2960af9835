"""A skill with a `workflow.yaml` has the findings about it wherever it is linted."""

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.findings import Category, Finding, Severity, errors
from registry.core.format import skill_md
from registry.core.limits import Limits
from registry.core.lint import rules, workflow_rules
from registry.core.workflows.plan import FILE
from tests.conftest import skill_text
from tests.core.workflows.capabilities import ALL
from tests.core.workflows.files import FULL, HEADER, steps

UNKNOWN = steps("id: a, uses: no.such", "id: b, uses: skill:other")
BROKEN = steps("id: a, uses: No.Such")


def bundle(workflow: str | bytes | None, path: str = FILE) -> Bundle:
    content = workflow.encode() if isinstance(workflow, str) else workflow
    return Bundle({SKILL_MD: skill_text("a").encode(), **({path: content} if content is not None else {})})


def lint(made: Bundle, *, authoring: bool = True, known: bool = True) -> list[Finding]:
    found = rules.lint(
        skill_md.read(made[SKILL_MD]),
        made,
        authoring=authoring,
        capabilities=ALL if known else None,
        known_names={"a"} if known else None,
    )
    return [finding for finding in found if finding.rule in workflow_rules.RULES]


@pytest.mark.parametrize("authoring", [True, False])
def test_a_workflow_that_is_no_plan_is_an_error_also_if_it_is_imported(authoring: bool) -> None:
    (found,) = lint(bundle(BROKEN), authoring=authoring)
    assert (found.rule, found.severity, found.file, found.line) == ("workflow-uses", Severity.ERROR, FILE, 4)
    assert found.category is Category.FORMAT


@pytest.mark.parametrize(
    "content", ["a: b: c", "", "a: &a [*a]", "[" * 99, b"\xff", "#" * 65_537, "a: [" + "x, " * 5_000 + "]"]
)
def test_a_file_that_cannot_be_read_is_an_error(content: str | bytes) -> None:
    (found,) = lint(bundle(content))
    assert (found.severity, found.file) == (Severity.ERROR, FILE)
    assert found.fix


@pytest.mark.parametrize(("authoring", "severity"), [(True, Severity.ERROR), (False, Severity.WARNING)])
def test_an_unknown_capability_or_skill_stops_only_an_author(authoring: bool, severity: Severity) -> None:
    found = lint(bundle(UNKNOWN), authoring=authoring)
    assert [(each.rule, each.severity, each.line) for each in found] == [
        ("workflow-capability-unknown", severity, 4),
        ("workflow-skill-unknown", severity, 5),
    ]
    assert {each.category for each in found} == {Category.QUALITY}


def test_capabilities_that_are_not_given_are_not_unknown() -> None:
    assert lint(bundle(UNKNOWN), known=False) == []


@pytest.mark.parametrize("path", ["references/workflow.yaml", "workflow.yml"])
def test_only_the_file_beside_skill_md_is_a_workflow(path: str) -> None:
    assert lint(bundle(BROKEN, path)) == []


@pytest.mark.parametrize("workflow", [None, FULL, UNKNOWN, BROKEN, "a: b: c", HEADER])
def test_the_refusals_are_the_errors_of_an_imported_skill(workflow: str | None) -> None:
    made = bundle(workflow)
    found = rules.refusals(made)
    assert found == errors(rules.lint(skill_md.read(made[SKILL_MD]), made, authoring=False))
    assert bool(found) == (workflow in (BROKEN, "a: b: c", HEADER))


def test_a_skill_without_a_workflow_needs_no_time_for_it() -> None:
    limits = Limits()
    assert workflow_rules.refusal_seconds(bundle(None), limits) == 0
    short, long = (workflow_rules.refusal_seconds(bundle("#" * size), limits) for size in (10, 60_000))
    assert 0 < short < long
    assert workflow_rules.refusal_seconds(bundle("#" * 999_999), limits) < 1


def test_the_nested_skills_of_a_workflow_are_named() -> None:
    limits = Limits()
    assert workflow_rules.nested_skills(bundle(FULL), limits=limits) == ("refund-desk",)
    assert workflow_rules.nested_skills(bundle(None), limits=limits) == ()
    assert workflow_rules.nested_skills(bundle(BROKEN), limits=limits) == ()


def test_every_rule_is_registered() -> None:
    assert workflow_rules.RULES.keys() <= rules.RULES.keys()
