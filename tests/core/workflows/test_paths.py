"""Paths of a run."""

import pytest

from registry.core.workflows import paths


@pytest.mark.parametrize(
    ("path", "top"),
    [
        ("a", "a"),
        ("a[3]", "a"),
        ("a#2", "a"),
        ("a@text.template", "a"),
        ("a/b", "a"),
        ("a!2/b[1]", "a"),
        ("a[3]!2/b/c", "a"),
        ("a@text.template[0]", "a"),
    ],
)
def test_a_path_belongs_to_one_step_of_the_workflow(path: str, top: str) -> None:
    assert paths.top_of(path) == top
