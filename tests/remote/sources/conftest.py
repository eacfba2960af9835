"""One server a test, whose host is allowed."""

from collections.abc import Iterator

import pytest

from tests.services.receivers import Receiver, receiving


@pytest.fixture
def server() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def allowed(server: Receiver) -> frozenset[str]:
    return frozenset({server.host})
