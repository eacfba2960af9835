"""Lines in the log about requests that were refused."""

import logging
import sys

import pytest

from skillsite.logs import Masked


def line(name: str, status: int | None) -> str:
    try:
        raise ValueError("Wrong.")
    except ValueError:
        record = logging.LogRecord(name, logging.ERROR, __file__, 1, "Refused: /", (), sys.exc_info())
    if status is not None:
        record.status_code = status
    return Masked("%(message)s").format(record)


@pytest.mark.parametrize(
    ("name", "status"), [("django.security.DisallowedHost", 400), ("django.request", 400), ("django.request", 404)]
)
def test_a_refused_request_is_one_line(name: str, status: int) -> None:
    assert line(name, status) == "Refused: /"


@pytest.mark.parametrize(("name", "status"), [("django.request", 500), ("registry.web", None), ("registry.web", 400)])
def test_an_error_of_the_site_has_a_traceback(name: str, status: int | None) -> None:
    assert "ValueError: Wrong." in line(name, status)
