"""Hostile runs: large values, and conditions and inputs that read all of them."""

import json
from collections.abc import Callable

from registry.core.workflows.plan import Foreach, Step, While
from registry.core.workflows.values import Json
from tests.core.workflows.engine import Engine, engine
from tests.costs.shape import Shape, repeated

_TEXTS = 150_000
_OUTPUT = 1_000_000  # characters
_ITEMS = 1_000
_STEPS = 500


def _texts(given: dict[str, Json]) -> Json:
    return {"value": ["ab"] * _TEXTS}


def _steps(step: Callable[[str], Step]) -> Callable[[int], Engine]:
    """Return a maker of runs with this many steps after one that writes a large value. None of them has begun."""

    def make(size: int) -> Engine:
        first = Step("make", "texts", {}, {"value": "vars.all"})
        steps = [step(f"s{number}") for number in range(1, size)]
        run = engine(first, *steps, functions={"texts": _texts}, fail_fast=False)
        run.decide()
        run.scheduler.report("make", run.perform(run.pending.pop()), run.now)
        return run

    return make


def _outputs(unit: str) -> Callable[[int], Engine]:
    """Return a maker of runs with this many calls, each with the largest output."""
    text = f'{{"value": [{repeated(unit, _OUTPUT).rpartition(",")[0]}]}}'

    def make(size: int) -> Engine:
        step = Step("each", "give", {}, {}, (), foreach=Foreach("inputs.items", "item", "index"))
        functions = {"give": lambda given: json.loads(text)}
        return engine(step, functions=functions, inputs={"items": list(range(size))}, fail_fast=False)

    return make


def _questions(size: int) -> Engine:
    given = {"value": "inputs.text"}
    step = Step("each", "human.approve", given, {}, (), foreach=Foreach("inputs.items", "item", "index"))
    functions = {"human.approve": _texts}
    return engine(step, functions=functions, inputs={"items": list(range(size)), "text": "x" * 30_000})


def _loop(size: int) -> Engine:
    step = Step("each", "add", {}, {"value": "vars.all"}, (), merge_strategy="append", while_=While("true", size))
    return engine(step, functions={"add": lambda given: {"value": [1] * 290}})


_MANY = " or ".join(["'x' in vars.all"] * 6)
_DECISIONS = {
    "conditions": _steps(lambda id_: Step(id_, "texts", {}, {}, ("make",), condition=_MANY)),
    "inputs": _steps(lambda id_: Step(id_, "texts", {"value": "vars.all"}, {}, ("make",))),
    "inputs that are too long": _steps(lambda id_: Step(id_, "texts", {"value": ["vars.all"] * 9}, {}, ("make",))),
    "lists": _steps(
        lambda id_: Step(id_, "texts", {}, {}, ("make",), foreach=Foreach("vars.all", "item", "index")),
    ),
}
_UNITS = ("[],", '{"a":{}},', '"ab",', "1.5,", '"\U0001f600' + "\U0001f600" * 90_000 + '",')

SHAPES = (
    *(
        Shape(f"a decision with {name}", make, lambda run: run.decide(), _STEPS, quick=True)
        for name, make in _DECISIONS.items()
    ),
    *(
        Shape(f"a run with outputs of {unit[:9]!a}", _outputs(unit), Engine.run, 9, light=unit.startswith("{"))
        for unit in _UNITS
    ),
    Shape("a decision with many questions", _questions, lambda run: run.decide(), _ITEMS, quick=True),
    Shape("a loop that appends", _loop, Engine.run, _ITEMS, quick=True),
)
