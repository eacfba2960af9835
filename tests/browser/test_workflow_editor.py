"""The workflow editor in the browser: cards and YAML follow each other, and the graph follows both."""

import re

from playwright.sync_api import Locator, Page, expect

from registry.core import roles
from registry.models import Project
from registry.services.permissions import operator
from registry.services.skills import skills
from tests.browser import accessibility, steps
from tests.browser.conftest import Windows
from tests.browser.site import Team
from tests.conftest import skill_bundle

WORKFLOW = """\
# Packs a parcel.
id: shipping.parcel
version: 1.0.0
inputs:
  order: {type: string, required: true}
steps:
  - id: read  # the order
    uses: text.trim
    input: {text: inputs.order}
    output: {text: vars.order}
  - id: pack
    uses: text.template
    input:
      template: "Pack {{order}}."
      variables: {order: vars.order}
    config: {depends_on: [read]}
"""


def _prepare(project: Project) -> None:
    bundle = skill_bundle("parcel", {"workflow.yaml": WORKFLOW.encode()})
    skills.create(project, bundle, note="", by=operator())
    skills.create(project, skill_bundle("plain"), note="", by=operator())


def _open(team: Team, windows: Windows, **more: bool) -> Page:
    team.site.do(_prepare, team.project)
    page = windows.open(team.session(roles.AUTHOR), clock=more.get("script", True), **more)
    page.goto(f"{team.base}/skills/parcel/edit/workflow/")
    return page


def _yaml(page: Page) -> Locator:
    return page.get_by_role("textbox", name="workflow.yaml")


def _has(page: Page, text: str) -> None:
    expect(_yaml(page)).to_have_value(re.compile(re.escape(text)))


def _checks(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Checks")


def _type(page: Page, text: str) -> None:
    _yaml(page).fill(text)
    steps.pass_a_second(page)


def test_a_step_is_added_with_a_card_and_appears_in_the_yaml_and_the_graph(team: Team, windows: Windows) -> None:
    page = _open(team, windows)
    page.get_by_label("New step").select_option("text.measure")
    page.get_by_role("button", name="Add step").click()
    expect(page.get_by_label("Id", exact=True)).to_be_focused()
    _has(
        page, "  - id: measure\n    uses: text.measure\n    input:\n      text: vars.text\n".replace("vars.text", '""')
    )
    page.get_by_label("Id", exact=True).fill("weigh")
    page.get_by_label("text", exact=True).first.fill("vars.order")
    steps.pass_a_second(page)
    _has(page, "  - id: weigh\n    uses: text.measure\n    input:\n      text: vars.order\n")
    _has(page, "- id: read  # the order\n")
    graph = page.locator("#wf-graph")
    expect(graph.get_by_text("weigh", exact=True).first).to_be_visible()
    expect(_checks(page)).to_contain_text("No findings")
    expect(page.get_by_label("Id", exact=True)).to_have_value("weigh")
    accessibility.load_axe(page)
    assert accessibility.violations(page, {}) + accessibility.overflowing(page) == []
    page.get_by_role("button", name="Back to the draft").click()
    steps.publish(page, 2)
    page.goto(f"{team.base}/skills/parcel/workflow/")
    expect(page.get_by_text("weigh", exact=True).last).to_be_visible()


def test_an_error_in_the_yaml_is_named_with_its_line_and_undone_by_typing(team: Team, windows: Windows) -> None:
    page = _open(team, windows)
    graph = page.locator("#wf-graph")
    _type(page, WORKFLOW.replace("depends_on: [read]", "depends_on: [raed]"))
    expect(_checks(page)).to_contain_text("Did you mean 'read'?")
    expect(_checks(page)).to_contain_text("The graph still shows the last text without errors.")
    expect(graph.get_by_text("pack", exact=True).first).to_be_visible()
    _checks(page).get_by_role("link", name="line 16").click()
    chosen = "(() => { const t = document.activeElement; return t.value.slice(t.selectionStart, t.selectionEnd); })()"
    assert page.evaluate(chosen) == "    config: {depends_on: [raed]}"

    _type(page, f"{WORKFLOW}oops: [\n")
    expect(page.locator("#steps")).to_contain_text("The cards return when the YAML is valid.")
    page.reload()
    expect(_yaml(page)).to_have_value(f"{WORKFLOW}oops: [\n")

    _type(page, WORKFLOW)
    expect(_checks(page)).to_contain_text("No findings")
    expect(page.get_by_role("button", name="Edit pack")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="No changes yet")).to_be_visible()


def test_the_text_changes_the_open_card_and_the_card_the_text(team: Team, windows: Windows) -> None:
    page = _open(team, windows)
    page.get_by_role("button", name="Edit pack").click()
    condition = page.get_by_label("Only if")
    expect(page.get_by_label("Steps to wait for")).to_have_value("read")
    _type(page, WORKFLOW.replace("[read]}", "[read], condition: inputs.order == 'a'}"))
    expect(condition).to_have_value("inputs.order == 'a'")
    condition.fill("")
    page.get_by_label("No step, it begins at once").check()
    steps.pass_a_second(page)
    _has(page, "    config: {depends_on: []}\n")
    page.get_by_label("Id", exact=True).fill("read")
    steps.pass_a_second(page)
    expect(page.locator("#card")).to_contain_text("Another step has the id “read” too.")
    expect(page.get_by_label("Id", exact=True)).to_have_value("read")


def test_removing_a_step_that_others_wait_for_asks_first(team: Team, windows: Windows) -> None:
    page = _open(team, windows, narrow=True)
    page.get_by_label("More for read").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("pack waits for this step. Remove it anyway?")
    alert.get_by_role("button", name="Remove the step").click()
    _has(page, "    config: {depends_on: []}\n")
    expect(page.get_by_role("button", name="Edit read")).to_have_count(0)


def test_inputs_are_edited_in_a_narrow_window(team: Team, windows: Windows) -> None:
    page = _open(team, windows, narrow=True)
    page.get_by_role("button", name="Edit the inputs and outputs").click()
    page.get_by_label("New input").fill("urgent")
    page.get_by_label("Type").nth(1).select_option("boolean")
    steps.pass_a_second(page)
    _has(page, "  order: {type: string, required: true}\n  urgent:\n    type: boolean\n")
    accessibility.load_axe(page)
    assert accessibility.violations(page, {}) + accessibility.overflowing(page) == []


def test_a_workflow_is_added_and_edited_without_a_script(team: Team, windows: Windows) -> None:
    team.site.do(_prepare, team.project)
    page = windows.open(team.session(roles.AUTHOR), script=False, narrow=True)
    page.goto(f"{team.base}/skills/plain/edit/")
    page.get_by_role("button", name="Workflow").click()
    page.get_by_role("button", name="Add a workflow").click()
    expect(_checks(page)).to_contain_text("No findings")
    page.get_by_role("button", name="Edit draft").click()
    page.get_by_label("template").fill("Dear {{subject}},\nhello.")
    page.get_by_role("button", name="Apply").click()
    _has(page, "      template: |-\n        Dear {{subject}},\n        hello.\n")
    _yaml(page).fill("id: [")
    page.get_by_label("Only if").fill("inputs.subject != ''")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("alert")).to_contain_text("The card waits until the YAML is valid again.")
    expect(page.get_by_label("Only if")).to_have_value("inputs.subject != ''")
    expect(_yaml(page)).to_have_value("id: [")
