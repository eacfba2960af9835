"""Eight workers send at the same moment: each delivery arrives once."""

import pytest

from tests.faults.crew import Crew
from tests.services.receivers import receiving

pytestmark = pytest.mark.races


def test_many_workers_at_once_send_each_delivery_once(crew: Crew, rounds: int) -> None:
    with receiving() as receiver:
        crew.do("make_webhook", "told", receiver.url())
        for turn in range(1, rounds + 1):
            crew.do("queue_tests", "told", 8)
            tries = crew.at_once("send_all", [()] * 8)
            # A worker that finds everything taken goes home; what is left is for the next wake-up.
            tries.append(crew.do("send_all"))
            assert sum(tries) == 8
            found = crew.do("sent", "told")
            assert (found["states"], found["attempts"]) == (["sent"], [1])
            assert sorted(got.headers["webhook-id"] for got in receiver.got) == found["keys"]
            assert len(receiver.got) == 8 * turn
