"""No input of an allowed size takes more than two seconds or 200 MB, and no time grows faster than the input."""

import tracemalloc

import pytest

from tests import cpu, effort
from tests.costs import (
    answers,
    archives,
    builtins,
    capabilities,
    pages,
    questions,
    runs,
    scans,
    scripts,
    texts,
    workflows,
)
from tests.costs.shape import MB, Shape

_SECONDS = 2.0
_BYTES = 200 * MB
_TIMES = 4
_GROWTH = 8.0  # four times the input: a linear algorithm grows to 4, a quadratic one to 16

SHAPES = (
    *answers.SHAPES,
    *archives.SHAPES,
    *texts.SHAPES,
    *scans.SHAPES,
    *scripts.SHAPES,
    *pages.SHAPES,
    *questions.SHAPES,
    *builtins.SHAPES,
    *runs.SHAPES,
    *workflows.SHAPES,
    *capabilities.SHAPES,
)
GROWING = [shape for shape in SHAPES if shape.small]
QUICK = [shape for shape in SHAPES if shape.quick or effort.SOAKING]
LIGHT = [shape for shape in SHAPES if shape.light or effort.SOAKING]
# A soak also reads smaller inputs. The largest one may be refused, and a smaller one take long.
PARTS = (1, 3, 10, 30) if effort.SOAKING else (1,)


def _named(shape: Shape) -> str:
    return ascii(shape.name).strip("'\"")


@pytest.mark.parametrize("shape", GROWING, ids=_named)
def test_time_grows_no_faster_than_the_input(shape: Shape) -> None:
    assert cpu.growth(shape.work, shape.small, times=_TIMES, enough=_GROWTH) <= _GROWTH


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("shape", QUICK, ids=_named)
def test_an_allowed_input_takes_two_seconds_at_most(shape: Shape, part: int) -> None:
    cpu.within(_SECONDS, shape.work(shape.largest // part))


@pytest.mark.parametrize("shape", LIGHT, ids=_named)
def test_an_allowed_input_takes_200_megabytes_at_most(shape: Shape) -> None:
    work = shape.work(shape.largest)
    tracemalloc.start()
    try:
        work()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= _BYTES
