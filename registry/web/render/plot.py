"""Geometry of a line plot of rates over time, drawn as SVG on the server."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 720, 180
_MARK = 4  # half the width of a mark
_BELOW = 4  # from the middle of a label to its base line
_LOW = 0.5  # if every rate is above, the lower half of the plot would be empty


@dataclass(frozen=True, slots=True)
class Point:
    """A value of a series. `run` is its place in the history, from 0."""

    run: int
    x: float
    y: float
    value: float


@dataclass(frozen=True, slots=True)
class Series:
    """One line. `path` is the data of an SVG path, which a missing value interrupts; `marks` are squares on it."""

    label: str
    path: str
    marks: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """A line across the plot. `text_y` is the base line of its label."""

    y: float
    text_y: float
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    series: tuple[Series, ...]
    ticks: tuple[Tick, ...]


def plot(rates: Sequence[tuple[str, Sequence[float | None]]]) -> Plot:
    """Place rates from 0 to 1, oldest first, at equal distances from left to right."""
    known = [value for _, values in rates for value in values if value is not None]
    floor = _LOW if known and min(known) >= _LOW else 0.0
    levels = (1.0, (1.0 + floor) / 2, floor)
    ticks = tuple(Tick(_y(level, floor), _y(level, floor) + _BELOW, f"{level:g}") for level in levels)
    return Plot(tuple(_series(label, values, floor) for label, values in rates), ticks)


def _series(label: str, values: Sequence[float | None], floor: float) -> Series:
    points = tuple(
        Point(run, _x(run, len(values)), _y(value, floor), value)
        for run, value in enumerate(values)
        if value is not None
    )
    marks = "".join(f"M{point.x - _MARK} {point.y - _MARK}h{2 * _MARK}v{2 * _MARK}h-{2 * _MARK}z" for point in points)
    return Series(label, "".join(_steps(points)), marks, points)


def _steps(points: Sequence[Point]) -> Iterator[str]:
    before = None
    for point in points:
        joined = before is not None and before.run + 1 == point.run
        yield f"{'L' if joined else 'M'}{point.x} {point.y}"
        before = point


def _x(run: int, runs: int) -> float:
    return round(WIDTH * run / (runs - 1), 1) if runs > 1 else WIDTH / 2


def _y(value: float, floor: float) -> float:
    return round(HEIGHT * (1 - (value - floor) / (1 - floor)), 1)
