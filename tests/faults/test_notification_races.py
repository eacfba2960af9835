"""Eight workers send at the same moment, and each delivery arrives once."""

import pytest

from tests.faults.process_pool import ProcessPool
from tests.services.receivers import receiving

pytestmark = pytest.mark.races


def test_many_workers_at_once_send_each_delivery_once(pool: ProcessPool, rounds: int) -> None:
    with receiving() as receiver:
        pool.do("make_webhook", "told", receiver.url())
        for turn in range(1, rounds + 1):
            pool.do("queue_tests", "told", 8)
            tries = pool.at_once("send_all", [()] * 8)
            # A worker stops if other workers hold all deliveries, so some can remain for the next one.
            tries.append(pool.do("send_all"))
            assert sum(tries) == 8
            found = pool.do("deliveries", "told")
            assert (found["states"], found["attempts"]) == (["sent"], [1])
            assert sorted(got.headers["webhook-id"] for got in receiver.got) == found["keys"]
            assert len(receiver.got) == 8 * turn
