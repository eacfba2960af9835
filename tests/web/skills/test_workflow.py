"""The workflow of a skill on its page."""

import re
from pathlib import Path

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows import runs
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.web.conftest import Browser
from tests.web.skills.skill_pages import HERE, bundled, text

WORKFLOW = """\
id: letters.greeting
version: 1.2.0
description: Writes a greeting and checks it.
inputs:
  person: {type: string, required: true, description: Who gets the letter.}
  tone: {type: string, default: warm}
outputs:
  letter: {type: string}
steps:
  - id: write
    uses: text.template
    input: {template: Hello}
  - id: check
    uses: security.secrets.detect
    input: {text: inputs.tone}
  - id: send
    uses: skill:letters
  - id: file-it
    uses: text.template
    input: {template: Filed}
"""
TAB = f'href="{HERE}workflow/"'


def test_the_page_shows_the_graph_the_fields_and_the_calls(project: Project, library: Path, viewing: Client) -> None:
    bundled(library, files={"workflow.yaml": WORKFLOW.encode()})
    page = text(viewing.get(f"{HERE}workflow/"))
    assert "Graph of the workflow letters.greeting" in page
    assert "Writes a greeting and checks it." in page
    assert re.search(r"<strong>person</strong> <code>string</code>\s*<span class=\"muted\">required", page)
    assert "default <code>&quot;warm&quot;</code>" in page
    calls = page[page.index("What it calls") :]
    link = '<a href="/projects/demo/capabilities/text.template/"><code>text.template</code></a>'
    assert re.search(rf"{link}\s*<p class=\"muted\">write, file-it</p>", calls)
    assert "<code>security.secrets.detect</code>" in calls


def test_a_capability_that_is_not_registered_is_marked_with_a_fix(
    project: Project, library: Path, viewing: Client
) -> None:
    content = WORKFLOW.replace("security.secrets.detect", "security.secret.detect")
    bundled(library, files={"workflow.yaml": content.encode()})
    page = text(viewing.get(f"{HERE}workflow/"))
    assert "not registered" in page
    assert "Did you mean <code>security.secrets.detect</code>?" in page
    assert "workflow.yaml, line 14" in page
    assert "capabilities/security.secret.detect/" not in page


def test_a_nested_skill_is_a_link_if_the_project_has_it(project: Project, library: Path, viewing: Client) -> None:
    bundled(library, files={"workflow.yaml": WORKFLOW.encode()})
    assert "not in this project" in text(viewing.get(f"{HERE}workflow/"))
    bundled(library, name="letters")
    page = text(viewing.get(f"{HERE}workflow/"))
    assert "not in this project" not in page
    assert '<a href="/projects/demo/skills/letters/">letters</a>' in page


def test_only_a_skill_with_a_workflow_has_the_tab(project: Project, author: Actor, viewing: Client) -> None:
    create_skill(project, skill_bundle(files={"references/workflow.yaml": WORKFLOW.encode()}), by=author)
    assert TAB not in text(viewing.get(HERE))
    assert viewing.get(f"{HERE}workflow/").status_code == 404


def test_the_tab_is_on_the_page_of_the_skill_and_of_its_version(
    project: Project, author: Actor, viewing: Client
) -> None:
    content = WORKFLOW.replace("skill:letters", "data.echo").encode()
    create_skill(project, skill_bundle(files={"workflow.yaml": content}), by=author)
    assert TAB in text(viewing.get(HERE))
    assert f'href="{HERE}version/1/workflow/"' in text(viewing.get(f"{HERE}version/1/"))
    assert "letters.greeting" in text(viewing.get(f"{HERE}version/1/workflow/"))


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (WORKFLOW.replace("uses: security.secrets.detect", "use: x"), 14),
        (WORKFLOW.replace("id: check", "id: write"), 14),
        (
            WORKFLOW.replace("    uses: skill:letters", "    uses: skill:letters\n    config: {depends_on: [file-it]}"),
            16,
        ),
        ("id: [", 1),
        ("", 1),
        (b"\xff\xfe", 1),
        ("steps: &a [*a]", 1),
        ("[" * 500, 1),
        ("# " + "x" * 200_000, None),
    ],
    ids=["no uses", "same id", "circle", "yaml", "empty", "not text", "alias", "deep", "large"],
)
def test_a_broken_workflow_shows_findings_instead_of_a_graph(
    project: Project, library: Path, viewing: Client, content: str | bytes, line: int | None
) -> None:
    raw = content if isinstance(content, bytes) else content.encode()
    bundled(library, files={"workflow.yaml": raw})
    page = text(viewing.get(f"{HERE}workflow/"))
    assert "This workflow can’t run" in page
    assert "graph-svg" not in page
    assert "finding--error" in page
    assert "finding-fix" in page
    assert line is None or "workflow.yaml, line" in page


def test_hostile_text_in_a_workflow_is_escaped(project: Project, library: Path, viewing: Client) -> None:
    hostile = WORKFLOW.replace("Writes a greeting", "<script>alert(1)</script>").replace(
        "default: warm", "default: '</code><img src=x onerror=y>'"
    )
    bundled(library, files={"workflow.yaml": hostile.encode()})
    page = text(viewing.get(f"{HERE}workflow/"))
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_a_deleted_skill_has_no_workflow(project: Project, viewing: Client) -> None:
    assert viewing.get(f"{HERE}workflow/").status_code == 404


# -- Runs ----------------------------------------------------------------------------------------------------

PLAIN = b"id: a.b\nversion: 1.0.0\nsteps: [{id: a, uses: data.echo, input: {value: 1}}]\n"
RUN = f'href="{HERE}run/"'


def test_the_last_runs_are_on_the_page_of_the_workflow(project: Project, author: Actor, viewing: Client) -> None:
    create_skill(project, skill_bundle(files={"workflow.yaml": PLAIN}), by=author)
    create_skill(project, skill_bundle("other", files={"workflow.yaml": PLAIN}), by=author)
    numbers = [runs.start(project, "greeting", by=author).pk for _ in range(7)]
    other = runs.start(project, "other", by=author).pk
    page = text(viewing.get(f"{HERE}workflow/"))
    shown = [int(number) for number in re.findall(r'href="/projects/demo/runs/(\d+)/"', page)]
    assert shown == numbers[:1:-1]
    assert other not in shown
    assert "/projects/demo/runs/?skill=greeting" in page


def test_people_who_may_run_a_workflow_have_a_button(
    project: Project, author: Actor, browser_client: Browser, viewing: Client
) -> None:
    create_skill(project, skill_bundle(files={"workflow.yaml": PLAIN}), by=author)
    writing = browser_client(roles.AUTHOR)
    assert text(writing.get(HERE)).count(RUN) == 1
    assert text(writing.get(f"{HERE}workflow/")).count(RUN) == 2
    assert "This workflow has not run yet." in text(writing.get(f"{HERE}workflow/"))
    assert RUN not in text(viewing.get(HERE))
    assert "Only authors can run workflows." in text(viewing.get(f"{HERE}workflow/"))


def test_a_workflow_that_cannot_run_says_why(project: Project, author: Actor, browser_client: Browser) -> None:
    create_skill(project, skill_bundle(files={"workflow.yaml": PLAIN}), by=author)
    skills.disable(project, "greeting", by=author)
    writing = browser_client(roles.AUTHOR)
    page = text(writing.get(f"{HERE}workflow/"))
    assert "This skill is switched off, so its workflow can’t run." in page
    assert RUN not in page


def test_a_skill_without_a_workflow_has_no_button(project: Project, author: Actor, browser_client: Browser) -> None:
    create_skill(project, skill_bundle(), by=author)
    assert RUN not in text(browser_client(roles.AUTHOR).get(HERE))


def test_a_broken_workflow_has_no_button_on_its_page(library: Path, project: Project, browser_client: Browser) -> None:
    bundled(library, files={"workflow.yaml": b"id: a.b\nversion: 1.0.0\nsteps: []\n"})
    page = text(browser_client(roles.AUTHOR).get(f"{HERE}workflow/"))
    assert "cannot run" in page
    assert page.count(RUN) == 1
