"""Values of runs that are too large for one answer, the state, and the lineage."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.core import roles
from registry.models import Project, RunQuestion
from registry.services.people import members
from registry.services.permissions import Actor
from registry.services.workflows import run_details
from tests.api.contract import problem
from tests.api.runs.requests import decide, read, started, waiting
from tests.conftest import Api

Work = Callable[[], None]
LONG = "a" * 40_000
PARTS = ["/values", "/steps/render", "/state", "/lineage"]


@pytest.fixture
def run(bot: Api, work: Work) -> dict[str, Any]:
    run = started(bot, inputs={"name": LONG})
    work()
    return read(bot, run)


def test_large_values_are_left_out_and_read_alone(bot: Api, run: dict[str, Any]) -> None:
    assert (run["inputs"], run["outputs"], run["omitted"]) == (None, None, ["inputs", "outputs"])
    assert (run["steps"][0]["output"], run["steps"][0]["omitted"]) == (None, ["input", "output"])
    whole = bot.get(f"/runs/{run['id']}/values").json()
    assert whole == {"inputs": {"name": LONG}, "outputs": {"text": f"Hello {LONG}"}}
    step = bot.get(f"/runs/{run['id']}/steps/render").json()
    assert (step["path"], step["output"]) == ("render", {"text": f"Hello {LONG}"})


def test_the_state_has_what_the_steps_wrote(bot: Api, run: dict[str, Any]) -> None:
    state = bot.get(f"/runs/{run['id']}/state").json()
    assert (state["inputs"], state["vars"]) == ({"name": LONG}, {"text": f"Hello {LONG}"})
    assert set(state) == {"inputs", "vars", "outputs", "frame", "working", "output", "extensions"}


def test_lineage_names_the_steps_behind_an_output(bot: Api, run: dict[str, Any]) -> None:
    found = bot.get(f"/runs/{run['id']}/lineage", of="outputs.text").json()
    assert (found["of"], [step["path"] for step in found["steps"]]) == ("outputs.text", ["render", "copy"])
    assert found["steps"][0]["reads"] == ["inputs.name"]
    assert bot.get(f"/runs/{run['id']}/lineage", of="outputs.nothing").json()["steps"] == []


@pytest.mark.parametrize("of", ["", "text", "output text", "nowhere.text", "outputs..text", "a" * 5_000])
def test_lineage_of_something_else_is_refused(bot: Api, run: dict[str, Any], of: str) -> None:
    assert "outputs.summary" in problem(bot.get(f"/runs/{run['id']}/lineage", of=of), 400, "invalid-request")["detail"]


@pytest.mark.parametrize("part", PARTS)
def test_an_unchanged_part_is_not_sent_again(bot: Api, run: dict[str, Any], part: str) -> None:
    path = f"/runs/{run['id']}{part}"
    seen = bot.get(path, of="outputs.text")
    assert bot.get(path, of="outputs.text", headers={"If-None-Match": seen["ETag"]}).status_code == 304


@pytest.mark.parametrize("part", PARTS)
def test_no_part_of_a_run_is_for_another_agent(
    bot: Api, api: Callable[..., Api], run: dict[str, Any], part: str
) -> None:
    path = f"/runs/{run['id']}{part}"
    seen = bot.get(path, of="outputs.text")["ETag"]
    other = api(roles.READ, roles.RUN, agent="other")
    problem(other.get(path, of="outputs.text", headers={"If-None-Match": seen}), 404, "not-found")
    problem(bot.get(f"/runs/999999{part}", of="outputs.text"), 404, "not-found")


@pytest.mark.parametrize("path", ["nothing", "render/copy", "render[0]", "a" * 700, "ren\0der"])
def test_a_step_that_does_not_exist_is_not_found(bot: Api, run: dict[str, Any], path: str) -> None:
    assert bot.get(f"/runs/{run['id']}/steps/{path}").status_code in (400, 404)


def test_questions_that_show_too_much_are_read_one_by_one(
    bot: Api, reviewer: Api, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = waiting(bot, work)
    monkeypatch.setattr(run_details, "_QUESTION_CHARS", 10)
    [question] = read(reviewer, run)["questions"]
    assert (question["omitted"], question["shown"]["input"]) == (["input", "output"], None)
    whole = reviewer.get(f"/runs/{run['id']}/questions/{question['id']}").json()
    assert (whole["omitted"], whole["shown"]["input"]) == ([], {"question": "Send it?"})
    assert whole["digest"] == question["digest"]


def test_an_agent_does_not_see_an_output_that_people_have_not_released(bot: Api, reviewer: Api, work: Work) -> None:
    run = waiting(bot, work)
    question = RunQuestion.objects.get()
    RunQuestion.objects.update(shown={**question.shown, "output": {"text": "Zebra"}})
    path = f"/runs/{run['id']}"
    for part in ("", f"/questions/{question.pk}"):
        assert b"Zebra" not in bot.get(path + part).content
        assert b"Zebra" in reviewer.get(path + part).content


def test_what_somebody_may_answer_changes_with_their_role(
    project: Project, bot: Api, reviewer: Api, operator: Actor, work: Work
) -> None:
    run = waiting(bot, work)
    path = f"/runs/{run['id']}"
    RunQuestion.objects.update(roles=["owner"])
    seen = reviewer.get(path)
    assert "for other people" in seen.json()["questions"][0]["obstacle"]
    person = project.memberships.get(user__username="reviewer").user
    members.set_role(project, person, roles.OWNER, by=operator)
    now = reviewer.get(path, headers={"If-None-Match": seen["ETag"]})
    assert (now.status_code, now.json()["questions"][0]["obstacle"]) == (200, "")
    assert decide(reviewer, now.json(), "approve").status_code == 200
