"""The collection of tests: no test is dropped unnoticed."""

from unittest import TestCase

import pytest
from django.conf import settings

from tests.conftest import refuse_equal_ids


def test_two_tests_with_one_id_stop_the_run(request: pytest.FixtureRequest) -> None:
    refuse_equal_ids([request.node])
    with pytest.raises(ValueError, match=r"the same id: tests/architecture/test_collection\.py::test_two_tests"):
        refuse_equal_ids([request.node, request.node])


def test_no_test_needs_a_fixture_that_conftest_replaces(request: pytest.FixtureRequest) -> None:
    items = request.session.items
    names = {marker.name for item in items for marker in item.iter_markers()}
    assert names.isdisjoint({"urls", "django_isolate_apps", "ignore_template_errors"})
    assert not [item.nodeid for item in items if issubclass(getattr(item, "cls", None) or object, TestCase)]
    assert "django.contrib.sites" not in settings.INSTALLED_APPS
