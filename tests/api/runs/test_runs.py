"""Runs over the API: start them, list them and read them."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.models import Project, Run
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.skills import quarantine, skills
from tests.api.contract import problem
from tests.api.runs.requests import read, start, started
from tests.conftest import Api, skill_bundle
from tests.prepared import create_skill, delete_skill, disable_skill

Work = Callable[[], None]


def test_an_agent_starts_a_run_and_reads_its_outputs(bot: Api, work: Work) -> None:
    run = started(bot)
    assert (run["state"], run["skill"], run["by"]) == ("queued", "greet", {"kind": "agent", "name": "bot"})
    work()
    found = read(bot, run)
    assert (found["state"], found["outputs"], found["omitted"]) == ("completed", {"text": "Hello Ada"}, [])
    assert [(step["path"], step["state"], step["attempts"]) for step in found["steps"]] == [
        ("render", "completed", 1), ("copy", "completed", 1)]  # fmt: skip
    assert found["steps"][0]["output"] == {"text": "Hello Ada"}
    assert found["lock"]["skill"] == {"name": "greet", "version": run["version"], "digest": run["digest"]}
    assert set(found["lock"]["capabilities"]) == {"text.template", "data.echo"}
    assert [step["writes"][0]["target"] for step in found["trace"]] == ["vars.text", "outputs.text"]
    assert (found["questions"], found["total_steps"], found["next"]) == ([], 2, None)


def test_a_run_that_fails_says_which_step_failed_and_why(
    bot: Api, work: Work, project: Project, operator: Actor
) -> None:
    text = 'id: bad\nversion: 1.0.0\nsteps: [{id: stop, uses: control.fail, input: {message: "No."}}]\n'
    create_skill(project, skill_bundle("bad", {"workflow.yaml": text.encode()}), by=operator)
    run = started(bot, "bad")
    work()
    found = read(bot, run)
    assert (found["state"], found["code"], found["outputs"]) == ("failed", "call", {})
    [step] = found["steps"]
    assert (step["state"], step["code"]) == ("failed", "call") and "No." in step["message"]


def test_the_options_and_the_frame_of_a_run_are_kept(bot: Api) -> None:
    options = {"max_workers": 2, "fail_fast": False, "deadline_seconds": 60}
    run = started(bot, options=options, frame={"goal": "Greet."})
    found = read(bot, run)
    assert (found["options"], found["frame"]["goal"]) == ({**options, "deadline_seconds": 60.0}, "Greet.")
    assert found["deadline"] > found["created_at"]


def test_steps_come_in_pages(bot: Api, work: Work) -> None:
    run = started(bot)
    work()
    first = bot.get(f"/runs/{run['id']}", limit="1").json()
    assert ([step["path"] for step in first["steps"]], first["total_steps"]) == (["render"], 2)
    second = bot.client.get(first["next"], headers=bot.headers).json()
    assert ([step["path"] for step in second["steps"]], second["next"]) == (["copy"], None)


NUMBER = """
id: number
version: 1.0.0
outputs: {number: {type: integer}}
steps: [{id: give, uses: data.echo, input: {value: NUMBER}, output: {value: outputs.number}}]
"""


def test_an_earlier_version_can_be_run(bot: Api, project: Project, operator: Actor, work: Work) -> None:
    first, second = (
        skill_bundle("number", {"workflow.yaml": NUMBER.replace("NUMBER", each).encode()}) for each in "12"
    )
    create_skill(project, first, by=operator)
    skills.save(project, "number", second, base=first.digest, by=operator)
    runs = [started(bot, "number", version=version) for version in ("1", "2", None)]
    work()
    assert [read(bot, run)["outputs"]["number"] for run in runs] == [1, 2, 2]


@pytest.mark.parametrize(
    ("more", "status", "code", "says"),
    [
        ({"skill": ...}, 400, "invalid-request", "skill"),
        ({"skill": "nothing"}, 404, "not-found", "nothing"),
        ({"skill": "a\0b"}, 400, "invalid-request", "skill"),
        ({"version": "9"}, 404, "not-found", "9"),
        ({"inputs": {}}, 400, "invalid-request", "name"),
        ({"inputs": {"name": 3}}, 400, "invalid-request", "name"),
        ({"inputs": {"name": "Ada", "colour": 1}}, 400, "invalid-request", "colour"),
        ({"inputs": []}, 400, "invalid-request", "inputs"),
        ({"inputs": {"name": "a" * 300_000}}, 413, "too-large", "262,144"),
        ({"frame": {"goal": 3}}, 400, "invalid-request", "frame"),
        ({"frame": "x"}, 400, "invalid-request", "frame"),
        ({"options": {"max_workers": 0}}, 400, "invalid-request", "max_workers"),
        ({"options": {"max_workers": 501}}, 400, "invalid-request", "max_workers"),
        ({"options": {"deadline_seconds": 0}}, 400, "invalid-request", "deadline_seconds"),
        ({"options": {"deadline_seconds": 1e12}}, 400, "invalid-request", "deadline_seconds"),
        ({"options": {"fail_fast": "perhaps"}}, 400, "invalid-request", "fail_fast"),
        ({"options": {"trust_level": "privileged"}}, 400, "invalid-request", "trust_level"),
        ({"trust_level": "privileged"}, 400, "invalid-request", "trust_level"),
        ({"confirmed_capabilities": ["x"]}, 400, "invalid-request", "confirmed_capabilities"),
    ],
)
def test_a_run_that_cannot_be_started_is_refused(
    bot: Api, more: dict[str, Any], status: int, code: str, says: str
) -> None:
    body = problem(start(bot, **more), status, code)
    assert says in body["detail"] or says == body.get("field"), body
    assert not Run.objects.exists()


def test_a_skill_without_a_workflow_cannot_be_run(bot: Api, project: Project, operator: Actor) -> None:
    create_skill(project, skill_bundle("plain"), by=operator)
    assert "no workflow" in problem(start(bot, "plain"), 400, "invalid-request")["detail"]


def test_a_skill_that_is_switched_off_deleted_or_in_quarantine_cannot_be_run(
    bot: Api, project: Project, operator: Actor
) -> None:
    quarantine.quarantine(project, "letter", "1", reason="Bad.", by=operator)
    assert problem(start(bot, "letter"), 404, "quarantined")["detail"]
    disable_skill(project, "order", by=operator)
    problem(start(bot, "order"), 404, "not-found")
    delete_skill(project, "greet", by=operator)
    problem(start(bot), 404, "not-found")
    assert not Run.objects.exists()


def test_an_agent_with_a_list_of_skills_starts_no_others(
    project: Project, operator: Actor, work: Work, api: Callable[..., Api]
) -> None:
    agents.create(project, "limited", Definition(allowed_skills=("greet",)), by=operator)
    limited = api(roles.READ, roles.RUN, agent="limited")
    refused = [problem(start(limited, name), 404, "not-found")["detail"] for name in ("letter", "nothing")]
    assert refused[0].replace("letter", "nothing") == refused[1]
    run = started(limited)
    work()
    assert read(limited, run)["state"] == "completed"


def test_a_run_needs_the_scope_run(api: Callable[..., Api], people: Callable[..., Api]) -> None:
    for caller in (api(roles.READ, roles.PROPOSE, roles.WRITE), people(roles.VIEWER), people(roles.OWNER, roles.READ)):
        for body in ({"skill": "greet"}, "{not json", {"colour": 1}):
            answer = caller.send("POST", "/runs", body)
            assert problem(answer, 403, "forbidden")["scope"] == roles.RUN
    assert not Run.objects.exists()


def test_runs_are_listed_with_filters(bot: Api, people: Callable[..., Api], work: Work) -> None:
    owner = people(roles.OWNER)
    first, second, third = started(bot), started(owner, "letter"), started(owner)
    work()

    def ids(caller: Api, **query: str) -> list[int]:
        answer = caller.get("/runs", **query)
        assert answer.status_code == 200, answer.content
        return [one["id"] for one in answer.json()["results"]]

    assert ids(owner) == [third["id"], second["id"], first["id"]]
    assert ids(owner, state="waiting") == ids(owner, state="unfinished") == ids(owner, skill="letter") == [second["id"]]
    assert ids(owner, by="bot") == [first["id"]]
    assert ids(owner, mine="1") == [third["id"], second["id"]]
    assert ids(owner, limit="1", offset="1") == [second["id"]]
    assert ids(bot) == ids(bot, mine="0") == [first["id"]]
    assert ids(bot, by="owner") == []


@pytest.mark.parametrize("query", [{"state": "done"}, {"mine": "perhaps"}, {"limit": "0"}, {"offset": "-1"}])
def test_a_wrong_filter_is_refused(bot: Api, query: dict[str, str]) -> None:
    problem(bot.get("/runs", **query), 400, "invalid-request")


def test_an_agent_sees_only_its_own_runs(bot: Api, api: Callable[..., Api], people: Callable[..., Api]) -> None:
    mine, theirs = started(bot), started(people(roles.AUTHOR))
    other = api(roles.READ, roles.RUN, agent="other")
    seen = people(roles.VIEWER).get(f"/runs/{theirs['id']}")
    assert seen.status_code == 200
    for caller, run in ((other, mine), (bot, theirs)):
        for headers in ({}, {"If-None-Match": seen["ETag"]}):
            problem(caller.get(f"/runs/{run['id']}", headers=headers), 404, "not-found")


@pytest.mark.parametrize("run", ["0", "999999", "x", "-1", "1.0", "9" * 30])
def test_a_run_that_does_not_exist_is_not_found(bot: Api, run: str) -> None:
    problem(bot.get(f"/runs/{run}"), 404, "not-found")


def test_a_run_that_has_not_changed_is_not_sent_again(bot: Api, work: Work) -> None:
    run = started(bot, "letter")
    path = f"/runs/{run['id']}"
    seen = bot.get(path)
    assert bot.get(path, headers={"If-None-Match": seen["ETag"]}).status_code == 304
    work()
    waiting = bot.get(path, headers={"If-None-Match": seen["ETag"]})
    assert (waiting.status_code, waiting.json()["state"]) == (200, "waiting")
    assert bot.get(path, headers={"If-None-Match": waiting["ETag"]}).status_code == 304
    assert bot.get(path, headers={"If-None-Match": waiting["ETag"]}, limit="1").status_code == 200


def test_a_tag_is_not_valid_for_somebody_else(people: Callable[..., Api], bot: Api, work: Work) -> None:
    run = started(bot, "letter")
    work()
    path = f"/runs/{run['id']}"
    seen = people(roles.VIEWER).get(path)
    for caller in (people(roles.REVIEWER), bot):
        assert caller.get(path, headers={"If-None-Match": seen["ETag"]}).status_code == 200


@pytest.mark.parametrize("depth", [110, 500, *range(800, 1_000, 7), 5_000])
def test_values_that_are_nested_too_deeply_are_refused(bot: Api, depth: int) -> None:
    value = "[" * depth + "]" * depth
    for body in (
        f'{{"skill": "greet", "inputs": {{"name": {value}}}}}',
        f'{{"skill": "greet", "frame": {{"a": {value}}}}}',
    ):
        problem(bot.send("POST", "/runs", body), 400, "invalid-request")
    answer = bot.send("POST", "/capabilities/data.echo/call", f'{{"inputs": {{"value": {value}}}}}')
    problem(answer, 400, "invalid-request")
    assert not Run.objects.exists()
