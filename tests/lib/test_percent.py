"""A probability is written without claiming more than is known."""

import pytest

from registry.lib.percent import in_percent


@pytest.mark.parametrize(
    ("probability", "written"),
    [
        (0.0, "0"),
        (1e-9, "<1"),
        (0.0099, "<1"),
        (0.01, "1"),
        (0.837, "84"),
        (0.99, "99"),
        (0.9995, ">99"),
        (1.0, "100"),
    ],
)
def test_only_0_is_0_and_only_1_is_100(probability: float, written: str) -> None:
    assert in_percent(probability) == written
