"""Workflows, and requests that start runs of them."""

from collections.abc import Callable
from typing import Any

from tests.conftest import Api

ASKS = """
id: letter
version: 1.0.0
outputs: {sent: {type: boolean}}
steps:
  - {id: sign, uses: human.approve, input: {question: "Send it?"}}
  - {id: send, uses: data.echo, input: {value: true}, output: {value: outputs.sent}}
"""
TYPED = """
id: order
version: 1.0.0
outputs: {number: {type: integer}}
steps:
  - id: ask
    uses: human.input
    input: {question: "How many?", fields: {number: {type: integer, required: true}}}
    output: {values.number: outputs.number}
"""


def start(caller: Api, skill: str = "greet", **more: Any) -> Any:
    inputs = {"inputs": {"name": "Ada"}} if skill == "greet" else {}
    body = {"skill": skill, **inputs, **more}
    return caller.send("POST", "/runs", {name: value for name, value in body.items() if value is not ...})


def started(caller: Api, skill: str = "greet", **more: Any) -> dict[str, Any]:
    answer = start(caller, skill, **more)
    assert answer.status_code == 202, answer.content
    body: dict[str, Any] = answer.json()
    return body


def read(caller: Api, run: dict[str, Any]) -> dict[str, Any]:
    answer = caller.get(f"/runs/{run['id']}")
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def waiting(caller: Api, work: Callable[[], None], skill: str = "letter") -> dict[str, Any]:
    """Return a run that waits for a person, as its starter sees it."""
    run = started(caller, skill)
    work()
    return read(caller, run)


def decide(caller: Api, run: dict[str, Any], action: str, **more: Any) -> Any:
    """Answer the first question of a run, as somebody does who has just read it."""
    question = run["questions"][0]
    body = {"question": question["id"], "digest": question["digest"], **more}
    body = {name: value for name, value in body.items() if value is not ...}
    return caller.send("POST", f"/runs/{run['id']}/{action}", body)
