"""Capabilities and single calls of them, from a program and from the command."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.client import SkillsiteClient, errors, exit_codes
from registry.models import Project, Run
from registry.services.permissions import Actor
from tests.client.between import Between, Reply
from tests.client.conftest import Connect
from tests.client.runs import carrying
from tests.client.runs.carrying import Command, Meanwhile
from tests.conftest import agent_token


def test_capabilities_are_listed_with_their_fields(client: SkillsiteClient) -> None:
    found = {each.id: each for each in client.capabilities()}
    assert len(found) > 20
    assert found["text.template"].inputs["template"] == "string, required"
    assert found["text.template"].outputs == {"text": "string, required"}
    assert found["text.template"].data["digest"].startswith("sha256:")


def test_a_capability_is_called(connect: Connect) -> None:
    client = carrying.working(connect, carrying.work)
    run = client.call_capability("text.trim", {"text": " a "})
    assert (run.state, run.skill, run.outputs) == ("completed", "text.trim", {"text": "a"})


def test_a_call_that_fails_is_a_failed_run(connect: Connect) -> None:
    run = carrying.working(connect, carrying.work).call_capability("control.fail", {"message": "No stock."})
    assert (run.state, run.code) == ("failed", "call") and "No stock." in run.reason


def test_a_call_that_needs_a_person_is_a_waiting_run(connect: Connect) -> None:
    run = carrying.working(connect, carrying.work).call_capability("human.approve", {"question": "Sure?"})
    assert (run.state, [question.text for question in run.questions]) == ("waiting", ["Sure?"])


@pytest.mark.parametrize(
    ("capability", "inputs", "words"),
    [
        ("text.trin", {"text": "a"}, "Did you mean text.trim?"),
        ("text.trim", {}, "text"),
        ("text.trim", {"text": 1}, "text"),
        ("text.trim", {"text": "a", "other": 1}, "other"),
        ("a/b", {}, "nothing at this address"),
        ("skill:greet", {}, "There is no capability"),
    ],
)
def test_a_wrong_call_calls_nothing(
    client: SkillsiteClient, capability: str, inputs: dict[str, Any], words: str
) -> None:
    with pytest.raises(errors.Refused, match=words):
        client.call_capability(capability, inputs)
    assert Run.objects.count() == 0


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_wrong_id_is_refused_here(client: SkillsiteClient, site: Between, name: str) -> None:
    with pytest.raises(errors.Misconfigured, match="not the id of a capability"):
        client.start_call(name)
    assert site.requests == []


def test_a_call_needs_the_scope_run(connect: Connect, project: Project, operator: Actor) -> None:
    with pytest.raises(errors.NotAllowed):
        connect(token=agent_token(project, "reader", ("read",), operator)).start_call("text.trim", {"text": "a"})
    assert Run.objects.count() == 0


def test_a_call_without_an_answer_is_not_repeated(client: SkillsiteClient, site: Between) -> None:
    def lose(between: Between, path: str, forward: Callable[[], Reply]) -> Reply:
        forward()
        return Reply(504)

    site.fault = lose
    with pytest.raises(errors.Unanswered, match="Look at the list of runs"):
        client.start_call("text.trim", {"text": "a"})
    assert (len(site.requests), Run.objects.count()) == (1, 1)


def test_the_command_lists_capabilities(command: Command) -> None:
    code, out, err = command("capabilities", "text", "template")
    assert (code, err) == (0, "") and out.startswith("text.template  ") and "    template: string, required\n" in out
    assert json.loads(command("capabilities", "text.template", "--json")[1])[0]["kind"] == "builtin"
    assert command("capabilities", "no-such-thing") == (0, "", "No capabilities found.\n")


def test_the_command_calls_a_capability(command: Command, meanwhile: Meanwhile) -> None:
    meanwhile(carrying.work)
    code, out, err = command("call", "data.echo", "--input", "value:=[1, 2]")
    number = Run.objects.get().pk
    assert (code, json.loads(out)) == (0, {"value": [1, 2]})
    assert err.startswith(f"Run {number} calls data.echo: ") and err.endswith(f"Run {number} is complete.\n")


def test_a_call_is_only_started(command: Command) -> None:
    assert command("call", "data.echo", "--wait", "0")[:2] == (exit_codes.DONE, "")
    assert json.loads(command("call", "data.echo", "--wait", "0", "--json")[1])["state"] == "queued"


def test_a_failed_call_has_its_own_exit_code(command: Command, meanwhile: Meanwhile) -> None:
    meanwhile(carrying.work)
    assert command("call", "control.fail", "--input", "message=No")[0] == exit_codes.RUN_FAILED
    assert command("call", "absent")[0] == exit_codes.REFUSED
