"""The form that starts a run."""

import re
from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project, Run
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind
from tests.services.workflows.conftest import CHAIN
from tests.web.conftest import Browser, signed_in
from tests.web.runs.conftest import Started, Workflow
from tests.web.runs.workflows import main

TYPES = """
id: types
version: 1.0.0
description: Takes everything.
inputs:
  name: {type: string, required: true, description: As it is in the register.}
  country: {type: string, default: DE}
  limit: {type: number, default: 0.5}
  employees: {type: integer}
  urgent: {type: boolean, required: true}
  warm: {type: boolean, default: true}
  address: {type: object, default: {town: Ulm}}
  contacts: {type: array}
steps:
  - {id: keep, uses: data.echo, input: {value: inputs.name}}
"""
HERE = "/projects/demo/skills/flow/run/"
GIVEN = {"in-name": "Ada", "in-urgent": "no"}


@pytest.fixture
def writing(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.AUTHOR))


def inputs(client: Client, **more: str) -> Any:
    """Start a run with these texts in the form, and return its inputs."""
    response = client.post(HERE, GIVEN | {name.replace("_", "-", 1): text for name, text in more.items()})
    run = Run.objects.latest("pk")
    assert (response.status_code, response["Location"]) == (302, f"/projects/demo/runs/{run.pk}/")
    return run.inputs


def test_the_form_has_a_field_for_each_input(workflow: Workflow, writing: Client) -> None:
    workflow(TYPES)
    response = writing.get(HERE)
    page, words = response.content.decode(), main(response)
    assert re.search(r'<textarea name="in-name"[^>]* required', page)
    assert "name required" in words
    assert "As it is in the register." in words
    assert "country optional DE" in words
    assert 'name="in-limit" value="0.5"' in page
    assert "If it is empty, the default is used." in words
    assert "warm optional Yes No" in words
    assert "urgent required Choose Yes No" in words
    assert '{ "town": "Ulm" }' in words
    assert "One text per line, or JSON that starts with [." in words
    assert "Takes everything." in words


def test_typed_values_get_the_types_of_the_inputs(workflow: Workflow, writing: Client) -> None:
    workflow(TYPES)
    found = inputs(
        writing, in_limit="2.5", in_employees=" -12 ", in_urgent="yes", in_warm="no", in_address='{"town": "Köln"}',
        in_contacts="Ada Okafor\r\n\r\n Jun ", in_country="",
    )  # fmt: skip
    assert found == {
        "name": "Ada", "country": "", "limit": 2.5, "employees": -12, "urgent": True, "warm": False,
        "address": {"town": "Köln"}, "contacts": ["Ada Okafor", "Jun"],
    }  # fmt: skip


def test_empty_boxes_are_no_values(workflow: Workflow, writing: Client) -> None:
    workflow(TYPES)
    found = inputs(writing, in_limit="", in_employees="", in_address="", in_contacts="", in_warm="")
    assert found == {
        "name": "Ada", "country": "", "limit": 0.5, "urgent": False, "warm": True, "address": {"town": "Ulm"}
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"), [('["a", 1]', ["a", 1]), ("a\nb", ["a", "b"]), ("[]", []), ('[{"a": null}]', [{"a": None}])]
)
def test_an_array_is_lines_or_json(workflow: Workflow, writing: Client, text: str, value: list[Any]) -> None:
    workflow(TYPES)
    assert inputs(writing, in_contacts=text)["contacts"] == value


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("name", "", "Fill in name."),
        ("urgent", "", "Fill in urgent."),
        ("urgent", "perhaps", "Choose yes or no."),
        ("limit", "much", "Enter a number such as 2.5."),
        ("limit", "1e999", "This number is too large."),
        ("limit", "nan", "Enter a number such as 2.5."),
        ("limit", "1" * 61, "Enter a number such as 2.5."),
        ("employees", "2.5", "Enter a whole number such as 12"),
        ("employees", "٣", "Enter a whole number such as 12"),
        ("employees", "+-3", "Enter a whole number such as 12"),
        ("address", "[1]", "Enter a JSON object"),
        ("address", '{"a": }', "This is not JSON: expecting value at line 1, column 7."),
        ("address", '{"a": 1, "a": 2}', "the key “a” appears twice."),
        ("address", '{"a": NaN}', "NaN is not a number of JSON."),
        ("address", '{"a": "\\ud800"}', "which is half of a character."),
        ("address", '{"a": ' * 30_000, "This JSON is nested too deeply."),
        ("contacts", "[1,", "This is not JSON"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_beside_its_field(
    workflow: Workflow, writing: Client, field: str, text: str, message: str
) -> None:
    workflow(TYPES)
    with nothing_left_behind():
        response = writing.post(HERE, GIVEN | {f"in-{field}": text})
    page = response.content.decode()
    assert response.status_code == 422
    error = page[page.index(f'id="id_in-{field}_error"') :][:600]
    assert message in error.replace("&quot;", '"')


def test_all_errors_are_shown_at_once_and_typed_values_are_kept(workflow: Workflow, writing: Client) -> None:
    workflow(TYPES)
    typed = {"in-name": "", "in-urgent": "", "in-limit": "much", "in-contacts": "Ada\nJun", "with-deadline": "0"}
    response = writing.post(HERE, typed)
    words = main(response)
    assert response.status_code == 422
    assert "Nothing was started. Check name , limit , urgent , Stop after ." in words
    assert "Ada Jun" in words
    assert 'value="much"' in response.content.decode()
    assert '<details class="more" open>' in response.content.decode()


def test_options_and_the_frame_are_given(workflow: Workflow, writing: Client) -> None:
    workflow(CHAIN)
    writing.post(
        HERE,
        {"in-name": "Ada", "with-deadline": "10", "with-workers": "3", "with-failures": "go-on", "with-goal": "Be kind",
         "with-context": '{"customer": 7}'},
    )  # fmt: skip
    run = Run.objects.get()
    assert run.options == {"max_workers": 3, "fail_fast": False, "deadline_seconds": 600}
    assert run.deadline is not None
    assert (run.frame["goal"], run.frame["context"]) == ("Be kind", {"customer": 7})


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("with-deadline", "0", "Enter minutes from 1 to 43,200."),
        ("with-deadline", "43201", "Enter minutes from 1 to 43,200."),
        ("with-workers", "501", "Enter a number from 1 to 500."),
        ("with-workers", "few", "Enter a number from 1 to 500."),
        ("with-failures", "panic", "Select a valid choice"),
        ("with-context", "[]", "Enter a JSON object"),
    ],
)
def test_options_beyond_the_limits_are_refused(
    workflow: Workflow, writing: Client, field: str, text: str, message: str
) -> None:
    workflow(CHAIN)
    with nothing_left_behind():
        response = writing.post(HERE, {"in-name": "Ada", field: text})
    assert response.status_code == 422
    assert message in main(response)


def test_inputs_that_are_too_large_are_refused(workflow: Workflow, writing: Client) -> None:
    workflow(CHAIN)
    with nothing_left_behind():
        response = writing.post(HERE, {"in-name": "a" * 300_000})
    assert response.status_code == 422
    assert "262,144 are allowed. Nothing was started." in main(response)


def test_a_full_project_starts_no_more(workflow: Workflow, writing: Client, settings: Any) -> None:
    workflow(CHAIN)
    settings.WORKFLOW_UNFINISHED_RUNS = 1
    assert writing.post(HERE, {"in-name": "Ada"}).status_code == 302
    response = writing.post(HERE, {"in-name": "Ada"})
    assert (response.status_code, Run.objects.count()) == (422, 1)
    assert "which is the limit" in main(response)


def test_a_workflow_that_cannot_run_says_why(
    project: Project, workflow: Workflow, operator: Actor, writing: Client
) -> None:
    workflow(CHAIN, "inner")
    workflow('id: a.b\nversion: 1.0.0\nsteps: [{id: a, uses: "skill:inner", input: {name: Ada}}]\n')
    skills.disable(project, "inner", by=operator)
    response = writing.get(HERE)
    assert response.status_code == 200
    assert "flow uses skill:inner, which cannot be used." in main(response)
    assert "Start the run" not in main(response)
    assert writing.post(HERE, {}).status_code == 422


def test_a_skill_without_a_workflow_says_so(project: Project, author: Actor, writing: Client) -> None:
    create_skill(project, skill_bundle("flow"), by=author)
    assert "flow has no workflow. Add a file workflow.yaml to the skill." in main(writing.get(HERE))


def test_an_unknown_skill_is_not_found(project: Project, writing: Client) -> None:
    assert writing.get(HERE).status_code == writing.post(HERE).status_code == 404


def test_viewers_cannot_start_runs(workflow: Workflow, viewing: Client) -> None:
    workflow(CHAIN)
    assert viewing.get(HERE).status_code == 403
    with nothing_left_behind():
        assert viewing.post(HERE, {"in-name": "Ada"}).status_code == 403


def test_the_form_is_filled_in_from_an_earlier_run(started: Started, writing: Client) -> None:
    run = started(CHAIN, inputs={"name": "Grace Hopper"})
    assert "Grace Hopper" in main(writing.get(f"{HERE}?again={run.pk}"))


@pytest.mark.parametrize("again", ["0", "x", "-1", "9" * 30, "²"])
def test_an_unknown_run_fills_in_nothing(workflow: Workflow, writing: Client, again: str) -> None:
    workflow(CHAIN)
    assert writing.get(f"{HERE}?again={again}").status_code == 200


def test_a_run_of_another_project_fills_in_nothing(
    other_project: Project, started: Started, workflow: Workflow, writing: Client
) -> None:
    run = started(CHAIN, inputs={"name": "Grace Hopper"})
    Run.objects.filter(pk=run.pk).update(project=other_project)
    assert "Grace Hopper" not in main(writing.get(f"{HERE}?again={run.pk}"))
