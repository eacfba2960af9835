"""The geometry of the plot of rates over time."""

from hypothesis import given
from hypothesis import strategies as st

from registry.web.render.plot import HEIGHT, WIDTH, plot

RATES = st.lists(st.none() | st.floats(0, 1), max_size=60)


def test_two_runs_are_at_the_ends_and_one_is_in_the_middle() -> None:
    (series,) = plot([("P@1", [0.5, 1.0])]).series
    assert series.path == f"M0.0 {float(HEIGHT)}L{float(WIDTH)} 0.0"
    (alone,) = plot([("P@1", [0.5])]).series
    assert alone.points[0].x == WIDTH / 2


def test_a_missing_value_interrupts_the_line() -> None:
    (series,) = plot([("P@1", [0.0, None, 1.0])]).series
    assert series.path.count("M") == 2
    assert "L" not in series.path


def test_the_axis_starts_at_a_half_only_if_every_rate_is_above() -> None:
    assert [tick.label for tick in plot([("a", [0.5, 0.9])]).ticks] == ["1", "0.75", "0.5"]
    assert [tick.label for tick in plot([("a", [0.9]), ("b", [0.49])]).ticks] == ["1", "0.5", "0"]
    assert [tick.label for tick in plot([("a", [])]).ticks] == ["1", "0.5", "0"]


@given(RATES, RATES)
def test_every_point_is_inside_the_plot_in_the_order_of_the_runs(first: list[float], second: list[float]) -> None:
    for series in plot([("a", first), ("b", second)]).series:
        places = [point.x for point in series.points]
        assert places == sorted(places)
        assert all(0 <= point.x <= WIDTH and 0 <= point.y <= HEIGHT for point in series.points)
