"""Requests as the web server makes them: it takes over what follows an answer, and looks for more."""

import json
from functools import cache
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory

from skillsite.server import answers
from skillsite.server.answers import Answer
from tests.conftest import Api, keep_connection


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@cache
def _handler() -> WSGIHandler:
    return WSGIHandler()


def serve(caller: Api, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    """Return the answer to a request, before anything follows."""
    content = "" if body is None else json.dumps(body)
    request = RequestFactory().generic(
        method, f"{caller.base}{path}", content, "application/json", headers={**caller.headers, **headers}
    )
    with keep_connection():
        return answers.produce(_handler(), request.environ)


def content(answer: Answer) -> bytes:
    return b"".join(answer.blocks())
