"""The collection of tests: no test is dropped unnoticed."""

import pytest

from tests.conftest import refuse_equal_ids


def test_two_tests_with_one_id_stop_the_run(request: pytest.FixtureRequest) -> None:
    refuse_equal_ids([request.node])
    with pytest.raises(ValueError, match=r"the same id: tests/architecture/test_collection\.py::test_two_tests"):
        refuse_equal_ids([request.node, request.node])
