"""Workflows of the benchmark. All of them have the same steps whatever they call, so that only the engine differs."""

import json
from typing import Any

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md

STEPS = 20  # of the chain and of the diamond

Edges = dict[str, list[str]]


def chain(length: int = STEPS) -> Edges:
    """Return steps that wait for each other in a row."""
    names = [f"s{number}" for number in range(length)]
    return {name: names[max(0, at - 1) : at] for at, name in enumerate(names)}


def diamond() -> Edges:
    """Return two fans of six with their joins, and a row of steps at the end."""
    first, second = [f"a{number}" for number in range(6)], [f"b{number}" for number in range(6)]
    edges: Edges = {"begin": [], **{name: ["begin"] for name in first}, "join": list(first)}
    edges |= {**{name: ["join"] for name in second}, "meet": list(second)}
    last = "meet"
    while len(edges) < STEPS:
        name = f"end{len(edges)}"
        edges[name], last = [last], name
    return edges


def workflow(name: str, edges: Edges, *, seconds: float = 0) -> Bundle:
    """Return a skill. Each step reads what the first step before it wrote, and writes a value of its own."""
    steps = [_step(id_, needed, seconds) for id_, needed in edges.items()]
    return _bundle(name, {"id": name, "version": "1.0.0", "steps": steps})


def _step(id_: str, needed: list[str], seconds: float) -> dict[str, Any]:
    value = f"vars.{needed[0]}" if needed else id_
    return {"id": id_, **_call(value, f"vars.{id_}", seconds), "config": {"depends_on": needed}}


def _call(value: str, target: str, seconds: float) -> dict[str, Any]:
    if seconds:
        return {"uses": "control.sleep", "input": {"seconds": seconds}, "output": {"slept": target}}
    return {"uses": "data.echo", "input": {"value": value}, "output": {"value": target}}


def fan_out(name: str, *, seconds: float = 0, uses: str = "") -> Bundle:
    """Return a skill with one foreach over the items of its input. `uses` is a skill to call for each."""
    foreach = {"items": "inputs.items", "as": "item"}
    call = {"uses": uses, "input": {}} if uses else _call("item", "vars.all", seconds)
    step = {"id": "each", **call, "config": {"foreach": foreach}}
    inputs = {"items": {"type": "array", "required": True}}
    return _bundle(name, {"id": name, "version": "1.0.0", "inputs": inputs, "steps": [step]})


def _bundle(name: str, document: dict[str, Any]) -> Bundle:
    text = skill_md.compose(
        name=name, description="Runs the steps of a benchmark. Use it to measure.", instructions="# Steps\n", tags=[]
    )
    return Bundle({SKILL_MD: text.encode(), "workflow.yaml": json.dumps(document).encode()})
