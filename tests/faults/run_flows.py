"""Workflows with effects, and a check that each effect happened as often as it must."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tests.faults.effect_server import Effect

# ONCE must not happen twice. AGAIN may, with the same key.
ONCE, AGAIN = "effects.once", "effects.again"

_HEAD = """
id: faults.flow
version: 1.0.0
inputs: {name: {type: string, required: true}}
"""

# Two chains at once, a list, and a step that waits for all of them.
MIXED = (
    _HEAD
    + """
steps:
  - {id: a, uses: effects.once, input: {name: inputs.name, part: a}, config: {depends_on: []}}
  - {id: b, uses: effects.again, input: {name: inputs.name, part: b}, config: {depends_on: [a]}}
  - {id: c, uses: effects.once, input: {name: inputs.name, part: c}, config: {depends_on: [b]}}
  - {id: d, uses: effects.again, input: {name: inputs.name, part: d}, config: {depends_on: []}}
  - {id: list, uses: data.echo, input: {value: [e, f, g]}, output: {value: vars.parts}, config: {depends_on: [d]}}
  - id: each
    uses: effects.once
    input: {name: inputs.name, part: part}
    config: {depends_on: [list], foreach: {items: vars.parts, as: part}}
  - {id: last, uses: effects.again, input: {name: inputs.name, part: last}, config: {depends_on: [c, each]}}
"""
)
MIXED_PARTS = {ONCE: ("a", "c", "e", "f", "g"), AGAIN: ("b", "d", "last")}


def chain(length: int, uses: str, *, before: float = 0.03, config: str = "{}") -> str:
    """Return a workflow whose steps run one after the other."""
    steps = (
        f"  - {{id: s{number}, uses: {uses}, input: {{name: inputs.name, part: s{number}, before: {before}}}, "
        f"config: {config}}}\n"
        for number in range(length)
    )
    return f"{_HEAD}\nsteps:\n{''.join(steps)}"


def fan(width: int, uses: str, *, before: float = 0.03) -> str:
    """Return a workflow whose steps run at the same time."""
    return chain(width, uses, before=before, config="{depends_on: []}")


def faults_of(names: Iterable[str], parts: Mapping[str, Sequence[str]], effects: Iterable[Effect]) -> list[str]:
    """Return every effect that is missing, that happened twice although it must not, or that had another key.

    `names` are those of the runs, and `parts` the effects of each run by their capability.
    """
    wanted = Counter((uses, f"{name}/{part}") for name in names for uses, its in parts.items() for part in its)
    happened = Counter((effect.capability, effect.name) for effect in effects)
    keys = {(effect.name, effect.idempotency_key) for effect in effects}
    twice = {each: times for each, times in happened.items() if times > 1 and each[0] == ONCE}
    return [
        *(f"{name} is missing" for _, name in wanted.keys() - happened.keys()),
        *(f"{name} was not wanted" for _, name in happened.keys() - wanted.keys()),
        *(f"{name} happened {times} times" for (_, name), times in twice.items()),
        *(f"{name} had several keys" for name, number in Counter(name for name, _ in keys).items() if number > 1),
        *(f"{key} was the key of several" for key, number in Counter(key for _, key in keys).items() if number > 1),
    ]
