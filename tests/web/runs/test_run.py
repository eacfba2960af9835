"""The page of one run: what it shows in each state, what it sends while it is followed, and its actions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.core import roles
from registry.models import Project, Run, RunQuestion, RunStep
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows import questions, runs
from tests.services.footprint import nothing_left_behind
from tests.services.workflows.conftest import CHAIN
from tests.web.conftest import Browser, signed_in
from tests.web.runs.conftest import Started, Workflow
from tests.web.runs.workflows import ASKS, EACH, FAILS, OUTER, main, text_of

HTMX = {"HX-Request": "true"}


def here(run: Run) -> str:
    return f"/projects/demo/runs/{run.pk}/"


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.fixture
def writing(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.AUTHOR))


def test_a_finished_run_shows_its_steps_values_and_lock(started: Started, viewing: Client) -> None:
    run = started(CHAIN, inputs={"name": "Ada"})
    response = viewing.get(here(run))
    page, words = response.content.decode(), main(response)
    assert "Completed in" in words
    assert "2 of 2 steps finished" in words
    assert "Graph of the workflow greet" in words
    assert 'href="#step-render"' in page
    assert "Outputs Download as JSON text Where from? text Hello Ada" in words
    assert "Inputs Download as JSON name Ada" in words
    assert "text.template" in words
    assert "data-live" not in page


def test_a_failed_run_says_where_and_what_to_do(started: Started, viewing: Client) -> None:
    words = main(viewing.get(here(started(FAILS))))
    assert "Step call failed: No answer." in words
    assert "Replay the run from this step when the cause is gone." in words
    assert "If the inputs are the cause, start a new run" in words
    assert "Not started tell" in words


def test_a_failed_call_is_not_told_to_replay(project: Project, author: Actor, carry: Any, viewing: Client) -> None:
    run = runs.start_call(project, "control.fail", inputs={"message": "No answer."}, by=author)
    carry()
    words = main(viewing.get(here(run)))
    assert "Make the call again when the cause is gone." in words
    assert "Replay" not in words and "workflow.yaml" not in words


def test_a_queued_run_waits_for_a_worker(started: Started, viewing: Client) -> None:
    response = viewing.get(here(started(CHAIN, inputs={"name": "Ada"}, carried=False)))
    assert "Waiting for a worker to start it." in main(response)
    assert "Steps Refresh" in main(response)
    assert "data-live" in response.content.decode()


def test_a_run_that_tries_again_says_so(started: Started, viewing: Client) -> None:
    again = FAILS.replace("message: No answer.}", "message: No answer.}, config: {retry: {backoff_seconds: 3000}}")
    words = main(viewing.get(here(started(again))))
    assert "Running" in words
    assert "call failed and will be tried again." in words
    assert "1 attempt, the next in 50 minutes" in words


def test_a_waiting_run_says_for_whom(started: Started, viewing: Client, browser_client: Browser) -> None:
    run = started(ASKS)
    assert "Waiting for a person: Publish the text?" in main(viewing.get(here(run)))
    words = main(signed_in(browser_client(roles.REVIEWER)).get(here(run)))
    assert "This run waits for your approval." in words
    assert "Waiting for you" in words


def test_a_denied_run_says_so(project: Project, started: Started, reviewer: Actor, carry: Any, viewing: Client) -> None:
    run = started(ASKS)
    question = RunQuestion.objects.get()
    questions.deny(project, run.pk, question.pk, digest=question.digest, by=reviewer)
    carry()
    words = main(viewing.get(here(run)))
    assert "Denied" in words
    assert "Replay the run from this step to ask again." in words


def test_a_foreach_of_a_thousand_items_is_one_row(started: Started, viewing: Client) -> None:
    run = started(EACH, inputs={"items": list(range(1_000))})
    assert run.steps.count() == 1_001
    with CaptureQueriesContext(connection) as queries:
        response = viewing.get(here(run))
    assert "1,000 calls: 1,000 completed" in main(response)
    assert "Runs at the start; for each item of inputs.items" in main(response)
    assert len(queries) < 30
    assert len(response.content) < 60_000


def test_the_steps_of_a_nested_skill_are_counted(started: Started, workflow: Workflow, viewing: Client) -> None:
    workflow(CHAIN)
    run = started(OUTER, "outer")
    assert "2 steps inside: 2 completed" in main(viewing.get(here(run)))
    words = text_of(viewing.get(f"{here(run)}steps/inside/"))
    assert "2 parts" in words
    assert "inside/render" in words


def test_many_steps_have_pages(started: Started, viewing: Client) -> None:
    steps = "\n".join(f"  - {{id: s{number}, uses: data.echo, input: {{value: 1}}}}" for number in range(120))
    run = started(f"id: long\nversion: 1.0.0\nsteps:\n{steps}\n", carried=False)
    page = viewing.get(f"{here(run)}?page=2").content.decode()
    assert 'id="step-s119"' in page
    assert 'id="step-s1"' not in page


def test_hostile_values_are_escaped_and_hidden_characters_shown(started: Started, viewing: Client) -> None:
    page = viewing.get(here(started(CHAIN, inputs={"name": "<script>alert(1)</script>\u202egnp"}))).content.decode()
    assert "<script>alert" not in page
    assert "U+202E" in page


def test_nested_inputs_are_shown_and_sent(started: Started, viewing: Client) -> None:
    run = started(EACH, inputs={"items": [nested(90)]})
    assert viewing.get(here(run)).status_code == 200
    assert viewing.get(f"{here(run)}steps/each/").status_code == 200
    assert viewing.get(f"{here(run)}values/inputs.json").json() == {"items": [nested(90)]}


GATED = """
id: tests.gated
version: 1.0.0
description: Writes.
inputs: {text: {type: string, required: true}}
outputs: {value: {type: string}}
safety:
  mandatory_pre_gates: [{capability: security.secrets.detect, input: {text: input.text}, on_fail: ON_FAIL}]
binding: {kind: builtin, function: data.echo}
"""
SENDS = """
id: sends
version: 1.0.0
inputs: {text: {type: string, required: true}}
steps:
  - {id: send, uses: tests.gated, input: {text: inputs.text}}
"""


@pytest.mark.parametrize(
    ("on_fail", "words"),
    [
        ("warn", ["Completed in", "The gate security.secrets.detect says:", "Gate security.secrets.detect objected"]),
        ("degrade", ["A gate withheld send, so the outputs may be incomplete.", "Degraded"]),
        ("block", ["was blocked.", "Nobody can overrule this gate."]),
    ],
)
def test_the_objections_of_gates_are_shown(
    started: Started, viewing: Client, tmp_path: Path, settings: Any, on_fail: str, words: list[str]
) -> None:
    (tmp_path / "capabilities").mkdir()
    (tmp_path / "capabilities" / "gated.yaml").write_text(GATED.replace("ON_FAIL", on_fail))
    settings.CAPABILITIES_DIRS = [tmp_path / "capabilities"]
    settings.SKILLS_RELOAD_SECONDS = 0.001
    run = started(SENDS, inputs={"text": "AKIA" + "J7Q2ZL4MX8WPN3RT"})
    found = main(viewing.get(here(run)))
    assert [word for word in words if word not in found] == []


def test_a_large_value_is_left_out_with_its_size(started: Started, viewing: Client) -> None:
    run = started(CHAIN, inputs={"name": "a" * 40_000})
    response = viewing.get(here(run))
    assert "39 KiB, which is too large for this page." in main(response)
    file = viewing.get(f"{here(run)}values/outputs.json")
    assert file.json() == {"text": "Hello " + "a" * 40_000}
    assert file["Content-Disposition"] == f'attachment; filename="run-{run.pk}-outputs.json"'


@pytest.mark.parametrize("path", ["", "timeline/", "data/", "values/inputs.json", "steps/render/", "live/"])
def test_a_run_of_another_project_does_not_exist(
    other_project: Project, started: Started, viewing: Client, path: str
) -> None:
    run = started(CHAIN, inputs={"name": "Ada"})
    Run.objects.filter(pk=run.pk).update(project=other_project)
    assert viewing.get(f"{here(run)}{path}", headers=HTMX).status_code == 404


@pytest.mark.parametrize("path", ["values/lock.json", "steps/nowhere/", "steps/render/?download=held"])
def test_what_a_run_does_not_have_is_not_found(started: Started, viewing: Client, path: str) -> None:
    assert viewing.get(f"{here(started(CHAIN, inputs={'name': 'Ada'}))}{path}").status_code == 404


# -- Follow a run --------------------------------------------------------------------------------------------


def live(client: Client, page: Any) -> Any:
    """Ask for the changes since a page was shown, as its script does."""
    address = page.context["page"].live_address
    return client.get(address, headers=HTMX)


def test_nothing_is_sent_if_nothing_changed(started: Started, viewing: Client) -> None:
    page = viewing.get(here(started(ASKS)))
    with CaptureQueriesContext(connection) as queries:
        answer = live(viewing, page)
    assert (answer.status_code, answer.content) == (204, b"")
    assert len([query for query in queries if "registry_run" in query["sql"]]) == 1


def test_the_steps_are_sent_when_the_run_goes_on(
    project: Project, started: Started, reviewer: Actor, carry: Callable[[], None], viewing: Client
) -> None:
    run = started(ASKS)
    page = viewing.get(here(run))
    question = RunQuestion.objects.get()
    questions.approve(project, run.pk, question.pk, digest=question.digest, by=reviewer)
    carry()
    answer = live(viewing, page)
    assert answer.status_code == 200
    body = answer.content.decode()
    assert "<html" not in body
    assert "Completed in" in body
    assert "data-live" not in body
    assert 'id="run-questions"' in body


def test_questions_and_actions_stay_as_they_are_until_they_change(started: Started, viewing: Client) -> None:
    run = started(ASKS)
    page = viewing.get(here(run))
    Run.objects.filter(pk=run.pk).update(changes=run.changes + 1)
    body = live(viewing, page).content.decode()
    assert 'id="live"' in body
    assert 'id="run-questions"' not in body
    assert 'id="run-actions"' not in body


def test_a_browser_that_opens_the_live_part_gets_the_page(started: Started, viewing: Client) -> None:
    run = started(ASKS)
    assert viewing.get(f"{here(run)}live/")["Location"] == here(run)


# -- Cancel and replay ---------------------------------------------------------------------------------------


def test_an_unfinished_run_can_be_cancelled(started: Started, writing: Client, carry: Callable[[], None]) -> None:
    run = started(ASKS)
    assert "A call that is on its way is not called back" in main(writing.get(here(run)))
    assert writing.post(f"{here(run)}cancel/")["Location"] == here(run)
    assert "author asked to cancel this run." in main(writing.get(here(run)))
    carry()
    assert "author cancelled this run." in main(writing.get(here(run)))


def test_a_finished_run_is_not_cancelled(started: Started, writing: Client) -> None:
    run = started(CHAIN, inputs={"name": "Ada"})
    assert 'popovertarget="cancel"' not in writing.get(here(run)).content.decode()
    with nothing_left_behind():
        response = writing.post(f"{here(run)}cancel/", follow=True)
    assert "The run is already completed. Nothing was changed." in text_of(response)


def test_a_failed_run_is_replayed_from_its_failed_step(started: Started, writing: Client) -> None:
    run = started(FAILS)
    page = writing.get(here(run)).content.decode()
    assert '<option value="call" selected>' in page
    assert "Approvals are not taken over" in page
    response = writing.post(f"{here(run)}replay/", {"from": "call"}, follow=True)
    again = Run.objects.latest("pk")
    assert (again.replay_of_id, list(again.steps.values_list("path", flat=True))) == (run.pk, ["begin"])
    assert f"replay of run {run.pk}" in main(response)


@pytest.mark.parametrize("carried", [True, False])
def test_a_replay_that_is_not_possible_says_why(started: Started, writing: Client, carried: bool) -> None:
    run = started(FAILS, carried=carried)
    with nothing_left_behind():
        response = writing.post(f"{here(run)}replay/", {"from": "nowhere"})
    assert response.status_code == 422
    assert ("The workflow has no step nowhere." if carried else "Only a finished run can be replayed.") in main(
        response
    )


def test_a_replay_of_a_deleted_skill_says_why(
    project: Project, started: Started, operator: Actor, writing: Client
) -> None:
    run = started(FAILS)
    skills.delete(project, "flow", by=operator)
    response = writing.post(f"{here(run)}replay/")
    assert response.status_code == 422
    assert "flow" in main(response)


def test_viewers_have_no_buttons_and_are_refused(started: Started, viewing: Client) -> None:
    run = started(FAILS)
    page = viewing.get(here(run)).content.decode()
    assert 'popovertarget="replay"' not in page
    assert "Run again" not in page
    with nothing_left_behind():
        assert viewing.post(f"{here(run)}replay/").status_code == 403
        assert viewing.post(f"{here(run)}cancel/").status_code == 403


def test_a_single_call_has_no_link_to_a_skill(
    project: Project, author: Actor, carry: Callable[[], None], viewing: Client
) -> None:
    run = runs.start_call(project, "data.echo", inputs={"value": 1}, by=author)
    carry()
    page = viewing.get(here(run))
    assert "of the capability data.echo, version" in main(page)
    assert "skills/data.echo/" not in page.content.decode()


# -- Parts of a run ------------------------------------------------------------------------------------------


def test_a_step_shows_its_values_and_sends_them(started: Started, viewing: Client) -> None:
    run = started(CHAIN, inputs={"name": "Ada"})
    words = text_of(viewing.get(f"{here(run)}steps/render/"))
    assert "Hello {{name}}" in words
    assert "Read inputs.name" in words
    assert "Wrote vars.text" in words
    assert viewing.get(f"{here(run)}steps/render/?download=output").json() == {"text": "Hello Ada"}


def test_the_items_of_a_foreach_have_pages(started: Started, viewing: Client) -> None:
    run = started(EACH, inputs={"items": list(range(250))})
    response = viewing.get(f"{here(run)}steps/each/?page=3")
    assert "250 parts" in main(response)
    assert "201 to 250 of 250" in main(response)
    assert [row["path"] for row in response.context["below"]] == list(
        RunStep.objects.filter(run=run).exclude(path="each").order_by("began").values_list("path", flat=True)[200:]
    )
    assert text_of(viewing.get(f"{here(run)}steps/each%5B7%5D/"))


def test_the_item_of_a_foreach_leads_back_to_it(started: Started, viewing: Client) -> None:
    run = started(EACH, inputs={"items": [1]})
    trail = viewing.get(f"{here(run)}steps/each%5B0%5D/").context["trail"]
    assert [label for label, _ in trail] == ["Runs", str(run.pk), "each", "each[0]"]
