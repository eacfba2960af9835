"""Workflows are checked against the capabilities of the project wherever a bundle comes in."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from registry.core.bundle import Bundle
from registry.core.errors import InvalidSkill
from registry.core.findings import Finding, Severity
from registry.core.text.edits import Edit
from registry.models import Project
from registry.services.capabilities import capability_registry
from registry.services.catalog import catalog, skill_facts
from registry.services.drafts import draft_checks, draft_files
from registry.services.drafts.drafts import Place
from registry.services.permissions import Actor
from registry.services.proposals import prepare
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import bundles, skills
from tests.conftest import skill_bundle
from tests.core.workflows.definitions import text
from tests.services.workflows.conftest import capabilities as capabilities  # the fixture

FLOW = """\
id: flow
version: 1.0.0
steps:
  - id: write
    uses: test.ledger.{verb}
    input: {{key: {key}}}
"""
LEDGER = text("test.ledger.write", inputs="{key: {type: string, required: true}}")


def bundle(verb: str = "write", key: str = "a") -> Bundle:
    return skill_bundle("flow", {"workflow.yaml": FLOW.format(verb=verb, key=key).encode()})


@pytest.fixture(autouse=True)
def ledger(capabilities: Callable[..., None]) -> None:
    capabilities(ledger=LEDGER)


def of_workflow(findings: Any) -> Iterator[Finding]:
    return (each for each in findings if each.file == "workflow.yaml")


def refused(call: Callable[..., object], *args: Any, **options: Any) -> Finding:
    with pytest.raises(InvalidSkill) as raised:
        call(*args, **options)
    (error,) = (each for each in of_workflow(raised.value.findings) if each.severity is Severity.ERROR)
    assert error.line in (5, 6)
    return error


def test_a_skill_with_an_unknown_capability_is_not_saved(project: Project, author: Actor) -> None:
    found = refused(skills.create, project, bundle("wrte"), by=author)
    assert found.fix == "Did you mean `test.ledger.write`?"
    assert not project.skills.exists()
    found = refused(skills.create, project, bundle(key="3"), by=author)
    assert "type integer" in found.message


def test_known_capabilities_give_warnings_about_their_safety(project: Project, author: Actor) -> None:
    checked = bundles.check(bundle(), authoring=True, project=project, by=author)
    assert [each.rule for each in of_workflow(checked.findings)] == ["workflow-safety-missing"]


def test_an_import_is_stored_and_its_findings_are_warnings(project: Project, author: Actor) -> None:
    imported = bundles.import_bundle(project, bundle("wrte"), by=author)
    (found,) = of_workflow(imported.findings)
    assert (found.severity, found.fix) == (Severity.WARNING, "Did you mean `test.ledger.write`?")
    known = capability_registry.of(project.pk).by_id
    facts = skill_facts.facts(catalog.load(project.pk, "flow"), known_names=[], capabilities=known)
    assert found in facts.findings


def test_a_proposal_is_checked_and_assessed(project: Project, author: Actor, capabilities: Callable[..., None]) -> None:
    edit = Edit(dict(bundle("wrte").items()))
    found = refused(prepare.prepare, project, Suggestion("flow", edit, "Better."), by=author)
    assert "Did you mean" in found.fix
    edit = Edit(dict(bundle().items()))
    prepared = prepare.prepare(project, Suggestion("flow", edit, "Better."), by=author)
    findings = prepare.assess(project, prepared).findings_added
    assert [each.rule for each in of_workflow(findings)] == ["workflow-safety-missing"]
    capabilities(ledger=LEDGER + "safety: {requires_confirmation: true}\n")
    assert not list(of_workflow(prepare.assess(project, prepared).findings_added))


def test_a_draft_is_checked(project: Project, author: Actor) -> None:
    skills.create(project, bundle(), by=author)
    place = Place(project, "flow")
    text_ = bundle("wrte")["workflow.yaml"].decode()
    draft = draft_files.write_text(place, "workflow.yaml", text_, by=author)
    report = draft_checks.check(project, draft)
    assert [each.fix for each in of_workflow(report.findings)] == ["Did you mean `test.ledger.write`?"]


def test_a_skill_without_a_workflow_asks_for_no_capabilities(project: Project, author: Actor, settings: Any) -> None:
    settings.CAPABILITIES_DIRS = None  # looking would fail
    skills.create(project, skill_bundle("plain"), by=author)
