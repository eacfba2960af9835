"""A change of a workflow on the pages of proposals, versions and uploads."""

import io
import zipfile
from collections.abc import Callable

import pytest
from django.test import Client

from registry.models import Project, Upload, Version
from registry.services.capabilities import project_capabilities
from registry.services.permissions import Actor, operator
from registry.services.skills import skills
from registry.web.skills import workflow_change
from tests import cpu
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.web.skills.skill_pages import text

LEDGER = """\
id: ledger.entry.write
version: 1.0.0
description: Writes one line to the ledger.
inputs: {key: {type: string, required: true}}
outputs: {ok: {type: boolean, required: true}}
properties: {side_effects: true, idempotent: false}
safety: {trust_level: elevated, requires_confirmation: true}
binding: {kind: http, method: POST, url: "https://ledger.internal/entries", body: input}
"""
BEFORE = """\
id: greeting
version: 1.0.0
steps:
  - {id: greet, uses: text.template, input: {template: Hello}}
  - {id: ask, uses: human.approve, input: {question: Fine}}
"""
AFTER = """\
id: greeting
version: 1.0.0
steps:
  - {id: greet, uses: text.template, input: {template: "Good <b>day</b>"}}
  - {id: write, uses: ledger.entry.write, input: {key: a}}
"""
WORDS = (
    "ledger.entry.write (ledger.internal), which has side effects and needs the trust level elevated and a",
    "Step <strong>ask</strong> no longer asks a person.",
    "1 step added, 1 step changed, 1 step removed",
    "reaches ledger.internal;",
    "template: Good &lt;b&gt;day&lt;/b&gt;",
)


@pytest.fixture
def two_versions(project: Project, author: Actor) -> Version:
    project_capabilities.register(project, LEDGER, by=operator())
    first = create_skill(project, skill_bundle("greeting", {"workflow.yaml": BEFORE.encode()}), by=author).version
    after = skill_bundle("greeting", {"workflow.yaml": AFTER.encode()})
    return skills.save(project, "greeting", after, base=first.digest, note="", by=author).version


def test_two_versions_are_compared_with_their_graphs(
    two_versions: Version, browser_client: Callable[..., Client]
) -> None:
    page = text(browser_client("viewer").get("/projects/demo/skills/greeting/versions/compare/?from=1&to=2"))
    for words in WORDS:
        assert words in page, words
    assert "Before</h3>" in page and "After</h3>" in page
    assert "node--added" in page and "node--removed" in page and "node--changed" in page


def test_versions_with_the_same_workflow_say_nothing_about_it(
    project: Project, author: Actor, browser_client: Callable[..., Client]
) -> None:
    first = create_skill(project, skill_bundle("greeting", {"workflow.yaml": BEFORE.encode()}), by=author).version
    after = skill_bundle("greeting", {"workflow.yaml": BEFORE.encode(), "references/a.md": b"A\n"})
    skills.save(project, "greeting", after, base=first.digest, note="", by=author)
    page = text(browser_client("viewer").get("/projects/demo/skills/greeting/versions/compare/?from=1&to=2"))
    assert 'id="workflow"' not in page


def test_an_upload_says_what_its_workflow_would_call(
    two_versions: Version, browser_client: Callable[..., Client]
) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        for path, content in skill_bundle("greeting", {"workflow.yaml": BEFORE.encode()}).items():
            members.writestr(path, content)
    archive.seek(0)
    archive.name = "greeting.zip"
    browser = browser_client("author")
    browser.post("/projects/demo/upload/", {"file": archive})
    page = text(browser.get(f"/projects/demo/upload/{Upload.objects.get().key}/"))
    assert "1 step added, 1 step changed, 1 step removed" in page
    assert '<span class="cap-gone">Gone</span> <strong>ledger.entry.write</strong>' in page


def test_a_workflow_that_is_removed_is_told(
    two_versions: Version, project: Project, author: Actor, browser_client: Callable[..., Client]
) -> None:
    skills.save(project, "greeting", skill_bundle("greeting"), base=two_versions.digest, note="", by=author)
    page = text(browser_client("viewer").get("/projects/demo/skills/greeting/versions/compare/?from=2&to=3"))
    assert "The skill no longer has a workflow." in page and "After</h3>" not in page


def test_a_change_of_every_step_takes_two_seconds_at_most(project: Project) -> None:
    names = [f"s{number:03}" for number in range(250)]
    waits = [", ".join(names[max(0, at - 7) : at]) for at in range(250)]
    each = "- {{id: {}, uses: a.b, config: {{depends_on: [{}]}}}}"
    before = "id: a\nversion: 1\nsteps:\n" + "\n".join(map(each.format, names, waits))
    after = before.replace("uses: a.b", "uses: a.c")
    bundles = [skill_bundle("greeting", {"workflow.yaml": text.encode()}) for text in (before, after)]
    shown = cpu.within(2.0, lambda: workflow_change.shown(project, *bundles))
    assert shown is not None and shown.summary == "250 steps changed" and shown.more == 150
