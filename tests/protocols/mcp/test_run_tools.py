"""Run tools: agents start workflows and watch them. People approve."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from registry.core import roles
from registry.models import Project, Run, RunQuestion, User
from registry.services import permissions
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows import questions, runs
from registry.services.workflows.run_worker import RunWorker
from tests.conftest import on_disk, skill_bundle
from tests.protocols.mcp_client import Mcp
from tests.services.workflows.conftest import CHAIN, finish

TOOLS = {
    "start_run",
    "wait_for_run",
    "get_run",
    "list_runs",
    "cancel_run",
    "list_capabilities",
    "call_capability",
}
ASKS = """
id: publish
version: 1.0.0
inputs: {text: {type: string, required: true}}
outputs: {text: {type: string}}
steps:
  - id: render
    uses: text.template
    input: {template: "Hello {{text}}", variables: {text: inputs.text}}
    output: {text: vars.text}
  - id: sure
    uses: human.approve
    input: {question: "Publish the greeting?"}
  - id: copy
    uses: data.echo
    input: {value: vars.text}
    output: {value: outputs.text}
"""
LARGE = 'id: large\nversion: 1.0.0\noutputs: {t: {type: string}}\nsteps:\n  - id: a\n    uses: data.echo\n    ' \
    'input: {value: "%s"}\n    output: {value: outputs.t}\n'  # fmt: skip
GROWS = """
id: grows
version: 1.0.0
inputs: {t: {type: string, required: true}}
outputs: {t: {type: string}}
steps:
  - id: grow
    uses: text.template
    input: {template: "{{t}}{{t}}{{t}}{{t}}{{t}}{{t}}{{t}}", variables: {t: inputs.t}}
    output: {text: outputs.t}
"""


@pytest.fixture
def workflow(project: Project, operator: Actor) -> Callable[..., str]:
    """Return a function that publishes a skill with a workflow, and returns its name."""

    def publish(text: str = CHAIN, name: str = "flow") -> str:
        skills.create(project, skill_bundle(name, {"workflow.yaml": text.encode()}), by=operator)
        return name

    return publish


@pytest.fixture
def runner(mcp: Callable[..., Mcp], workflow: Callable[..., str]) -> Mcp:
    workflow()
    return mcp("read", "run")


@pytest.fixture
def worker(db: None) -> RunWorker:
    return RunWorker(poll_seconds=0)


@pytest.fixture
def reviewer(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person(roles.REVIEWER), project)


def of(client: Mcp, tool: str, **arguments: Any) -> Any:
    result = client.call(tool, **arguments)
    assert not result["isError"], result
    return result["structuredContent"]


def refusal(client: Mcp, tool: str, **arguments: Any) -> str:
    result = client.call(tool, **arguments)
    assert result["isError"], result
    text: str = result["content"][0]["text"]
    return text


# -- Which tools there are -----------------------------------------------------------------------------------


def test_the_tools_need_the_scope_run(runner: Mcp, caller: Mcp) -> None:
    tools = {tool["name"]: tool for tool in runner.ask("tools/list")["tools"]}
    assert tools.keys() >= TOOLS
    assert not TOOLS & {tool["name"] for tool in caller.ask("tools/list")["tools"]}
    assert tools["start_run"]["annotations"] == {
        "readOnlyHint": False, "destructiveHint": True, "openWorldHint": True,
    }  # fmt: skip
    assert tools["get_run"]["annotations"]["readOnlyHint"] is True
    for tool in TOOLS:
        assert caller.refusal("tools/call", name=tool, arguments={})["code"] == -32602
    assert Run.objects.count() == 0


def test_no_tool_approves(mcp: Callable[..., Mcp]) -> None:
    every = mcp("read", "write", "propose", "run")
    names = {tool["name"] for tool in every.ask("tools/list")["tools"]}
    assert not [name for name in names if any(word in name for word in ("approve", "deny", "answer"))]


def test_every_result_fits_the_schema_of_its_tool(runner: Mcp, worker: RunWorker) -> None:
    listed = runner.ask("tools/list")["tools"]
    schemas = {tool["name"]: tool["outputSchema"] for tool in listed if tool["name"] in TOOLS}
    started = of(runner, "start_run", skill="flow", inputs={"name": "Ada"})
    finish(worker)
    results = {
        "start_run": started,
        "get_run": of(runner, "get_run", id=started["id"]),
        "wait_for_run": of(runner, "wait_for_run", id=started["id"]),
        "list_runs": of(runner, "list_runs"),
        "list_capabilities": of(runner, "list_capabilities"),
    }
    for tool, result in results.items():
        jsonschema_rs.validate(schemas[tool], result)


# -- Start and read ------------------------------------------------------------------------------------------


def test_an_agent_starts_a_run_and_reads_its_outputs(runner: Mcp, worker: RunWorker) -> None:
    started = of(runner, "start_run", skill="flow", inputs={"name": "Ada"}, options={"max_workers": 2})
    assert (started["state"], started["steps"], started["outputs"]) == ("queued", [], None)
    assert "wait_for_run" in started["next"]
    finish(worker)
    seen = of(runner, "get_run", id=started["id"])
    assert (seen["state"], seen["outputs"]) == ("completed", {"text": "Hello Ada"})
    assert [(step["path"], step["state"]) for step in seen["steps"]] == [("render", "completed"), ("copy", "completed")]
    assert Run.objects.get().options["max_workers"] == 2


def test_a_version_can_be_named(runner: Mcp) -> None:
    assert of(runner, "start_run", skill="flow", version="1", inputs={"name": "Ada"})["version"] == "1"
    assert "version" in refusal(runner, "start_run", skill="flow", version="7", inputs={"name": "Ada"})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "skill is required"),
        ({"skill": "absent"}, "absent"),
        ({"skill": "flow"}, "name"),
        ({"skill": "flow", "inputs": {"name": 3}}, "name"),
        ({"skill": "flow", "inputs": {"name": "Ada", "more": 1}}, "more"),
        ({"skill": "flow", "inputs": []}, "inputs must be an object"),
        ({"skill": "flow", "inputs": {"name": "a" * 300_000}}, "262,144"),
        ({"skill": "flow", "inputs": {"name": "Ada"}, "options": {"workers": 2}}, "Known options: max_workers"),
        ({"skill": "flow", "inputs": {"name": "Ada"}, "options": {"max_workers": "2"}}, "max_workers must be"),
        ({"skill": "flow", "inputs": {"name": "Ada"}, "options": {"max_workers": True}}, "max_workers must be"),
        ({"skill": "flow", "inputs": {"name": "Ada"}, "options": {"max_workers": 0}}, f"from 1 to {runs.MOST_WORKERS}"),
        ({"skill": "flow", "inputs": {"name": "Ada"}, "options": {"fail_fast": 1}}, "true or false"),
        ({"skill": "flow", "inputs": {"name": "Ada"}, "options": {"deadline_seconds": 1e30}}, "deadline_seconds is"),
        ({"skill": "flow", "inputs": {"name": "Ada"}, "frame": {}}, "Unknown arguments: frame"),
    ],
)
def test_a_wrong_start_starts_nothing(runner: Mcp, arguments: dict[str, Any], words: str) -> None:
    assert words in refusal(runner, "start_run", **arguments)
    assert Run.objects.count() == 0


def test_a_skill_without_a_workflow_cannot_be_started(runner: Mcp, offers: Any) -> None:
    assert "has no workflow" in refusal(runner, "start_run", skill="offers")


def test_an_agent_cannot_start_a_skill_it_may_not_see(runner: Mcp, project: Project, operator: Actor) -> None:
    agents.update(project, "bot", agents.Definition(allowed_skills=()), by=operator)
    assert "flow" in refusal(runner, "start_run", skill="flow", inputs={"name": "Ada"})
    assert Run.objects.count() == 0


def test_starts_use_the_rate_limit_for_writes(runner: Mcp, settings: Any) -> None:
    settings.RATE_LIMIT_WRITE = 1
    of(runner, "start_run", skill="flow", inputs={"name": "Ada"})
    assert "requests a minute" in refusal(runner, "start_run", skill="flow", inputs={"name": "Ada"})
    assert Run.objects.count() == 1


@pytest.mark.parametrize("tool", ["get_run", "wait_for_run", "cancel_run"])
@pytest.mark.parametrize("number", [0, -1, 10**30, "1", True, None, 1.5])
def test_an_unknown_run_is_not_found(runner: Mcp, tool: str, number: Any) -> None:
    refusal(runner, tool, id=number)


@pytest.mark.parametrize("tool", ["get_run", "wait_for_run", "cancel_run"])
def test_a_run_of_another_agent_is_not_found(runner: Mcp, mcp: Callable[..., Mcp], tool: str) -> None:
    number = of(runner, "start_run", skill="flow", inputs={"name": "Ada"})["id"]
    nosy = mcp("read", "run", agent="nosy")
    assert "There is no such run" in refusal(nosy, tool, id=number)
    assert of(nosy, "list_runs")["runs"] == []
    assert Run.objects.get().cancelled_by == ""


def test_steps_come_in_pages(runner: Mcp, worker: RunWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.protocols.mcp.run_results.MOST_STEPS", 1)
    number = of(runner, "start_run", skill="flow", inputs={"name": "Ada"})["id"]
    finish(worker)
    first = of(runner, "get_run", id=number)
    assert ([step["path"] for step in first["steps"]], first["total_steps"], first["next_step"]) == (["render"], 2, 1)
    second = of(runner, "get_run", id=number, first_step=1)
    assert ([step["path"] for step in second["steps"]], second["next_step"]) == (["copy"], None)
    refusal(runner, "get_run", id=number, first_step=-1)


def test_outputs_that_are_too_large_are_read_one_by_one(
    runner: Mcp, workflow: Callable[..., str], worker: RunWorker
) -> None:
    number = of(runner, "start_run", skill=workflow(LARGE % ("x" * 20_000), "large"))["id"]
    assert "is queued and has no outputs" in refusal(runner, "get_run", id=number, output="t")
    finish(worker)
    seen = of(runner, "get_run", id=number)
    assert "20,008 characters" in seen["outputs"]["omitted"] and seen["page"] in seen["outputs"]["omitted"]
    assert "one of these names: t." in seen["outputs"]["omitted"]
    assert of(runner, "get_run", id=number, output="t")["outputs"] == {"t": "x" * 20_000}
    assert "It has t." in refusal(runner, "get_run", id=number, output="other")
    refusal(runner, "get_run", id=number, output=3)


def test_an_output_has_a_limit_too(runner: Mcp, workflow: Callable[..., str], worker: RunWorker) -> None:
    number = of(runner, "start_run", skill=workflow(GROWS, "grows"), inputs={"t": "x" * 20_000})["id"]
    finish(worker)
    assert "128,000 fit into a result" in refusal(runner, "get_run", id=number, output="t")


def test_runs_are_listed_in_pages(runner: Mcp, worker: RunWorker) -> None:
    numbers = [of(runner, "start_run", skill="flow", inputs={"name": name})["id"] for name in ("a", "b", "c")]
    first = of(runner, "list_runs", limit=2)
    assert [run["id"] for run in first["runs"]] == [numbers[2], numbers[1]]
    second = of(runner, "list_runs", limit=2, before=first["next_before"])
    assert ([run["id"] for run in second["runs"]], second["next_before"]) == ([numbers[0]], None)
    finish(worker)
    assert of(runner, "list_runs", state="unfinished")["runs"] == []
    assert len(of(runner, "list_runs", state="completed", skill="Flow")["runs"]) == 3
    assert of(runner, "list_runs", skill="other")["runs"] == []


@pytest.mark.parametrize("arguments", [{"limit": 0}, {"limit": 51}, {"state": "done"}, {"before": "1"}, {"skill": 3}])
def test_a_wrong_filter_is_refused(runner: Mcp, arguments: dict[str, Any]) -> None:
    refusal(runner, "list_runs", **arguments)


def test_a_run_is_cancelled_once(runner: Mcp, worker: RunWorker) -> None:
    number = of(runner, "start_run", skill="flow", inputs={"name": "Ada"})["id"]
    assert "stops soon" in of(runner, "cancel_run", id=number)["next"]
    finish(worker)
    assert of(runner, "get_run", id=number)["state"] == "cancelled"
    assert "already cancelled" in refusal(runner, "cancel_run", id=number)


def test_read_skill_says_how_to_start_a_workflow(runner: Mcp, mcp: Callable[..., Mcp], offers: Any) -> None:
    def text(client: Mcp, name: str) -> str:
        return str(client.call("read_skill", skill_id=name)["content"][0]["text"])

    hint = "Call start_run with skill “flow” to let the site run it. Inputs: name (string, required)."
    assert hint in text(runner, "flow")
    assert "start_run" not in text(mcp("read"), "flow"), "this token cannot start it"
    assert hint in text(runner, "flow")
    assert "start_run" not in text(runner, "offers")


def test_read_skill_names_no_workflow_that_cannot_run(runner: Mcp, library: Path) -> None:
    on_disk(library, "broken", {"workflow.yaml": b"id: broken\nsteps: []\n"})
    assert "start_run" not in runner.call("read_skill", skill_id="broken")["content"][0]["text"]


# -- Wait ----------------------------------------------------------------------------------------------------


def test_a_run_that_needs_a_person_says_what_to_do(
    runner: Mcp, workflow: Callable[..., str], worker: RunWorker, project: Project, reviewer: Actor
) -> None:
    started = of(runner, "start_run", skill=workflow(ASKS, "publish"), inputs={"text": "you"})
    finish(worker)
    seen = of(runner, "wait_for_run", id=started["id"])
    [question] = seen["questions"]
    assert (seen["state"], question["step"], question["kind"]) == ("waiting", "sure", "approve")
    assert (question["text"], question["approvers"]["needed"]) == ("Publish the greeting?", 1)
    assert seen["page"] in seen["next"] and "cannot do it" in seen["next"]
    assert "digest" not in question, "an agent needs no digest, because it approves nothing"

    asked = RunQuestion.objects.get()
    questions.approve(project, started["id"], asked.pk, digest=asked.digest, by=reviewer)
    finish(worker)
    done = of(runner, "wait_for_run", id=started["id"], seen=seen["changes"])
    assert (done["state"], done["outputs"]) == ("completed", {"text": "Hello you"})


def test_a_wait_of_no_seconds_returns_at_once(runner: Mcp) -> None:
    number = of(runner, "start_run", skill="flow", inputs={"name": "Ada"})["id"]
    assert of(runner, "wait_for_run", id=number, seconds=0)["state"] == "queued"


@pytest.mark.parametrize("arguments", [{"seconds": -1}, {"seconds": 26}, {"seconds": "5"}, {"seen": "1"}])
def test_a_wrong_wait_is_refused(runner: Mcp, arguments: dict[str, Any]) -> None:
    number = of(runner, "start_run", skill="flow", inputs={"name": "Ada"})["id"]
    refusal(runner, "wait_for_run", id=number, **arguments)


# -- Capabilities --------------------------------------------------------------------------------------------


def test_capabilities_are_listed_and_searched(runner: Mcp) -> None:
    every = of(runner, "list_capabilities")
    assert len(every["capabilities"]) == 25 and every["omitted"]
    [found] = of(runner, "list_capabilities", query="text.template")["capabilities"]
    assert found["inputs"]["template"] == "string, required"
    assert of(runner, "list_capabilities", query="no such thing")["capabilities"] == []


def test_a_capability_is_called(runner: Mcp, worker: RunWorker) -> None:
    called = of(runner, "call_capability", capability="data.echo", inputs={"value": 7})
    assert called["state"] == "queued"
    finish(worker)
    assert of(runner, "get_run", id=called["id"])["outputs"] == {"value": 7}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "capability is required"),
        ({"capability": "data.eco"}, "Did you mean data.echo?"),
        ({"capability": "text.template", "inputs": {}}, "template"),
        ({"capability": "text.template", "inputs": "x"}, "inputs must be an object"),
    ],
)
def test_a_wrong_call_calls_nothing(runner: Mcp, arguments: dict[str, Any], words: str) -> None:
    assert words in refusal(runner, "call_capability", **arguments)
    assert Run.objects.count() == 0
