"""A pytest plugin that gives each test room for its frames.

Python keeps the frames of calls in chunks of 16 KB. A loop whose calls cross the end of a chunk maps and unmaps memory
for each call. The frame of `_call` is so large that Python allocates one large chunk for it and for all calls below it.
"""

from collections.abc import Callable
from typing import Any

import pytest
from _pytest import runner

_ROOM = 70_000  # values, in a chunk of 131,072


def _call(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


_call.__code__ = _call.__code__.replace(co_stacksize=_ROOM)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    return bool(_call(runner.pytest_runtest_protocol, item, nextitem))
