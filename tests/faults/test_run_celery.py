"""Celery workers carry the calls of runs: they, the workers of runs and the message broker are killed."""

import random

import pytest

from tests.faults.broker import running_broker
from tests.faults.run_flows import MIXED
from tests.faults.run_traffic import Traffic
from tests.faults.run_workers import run_site
from tests.faults.sites import Site

pytestmark = pytest.mark.races


def test_runs_survive_the_kill_of_all_workers_and_of_the_broker(site: Site, rounds: int) -> None:
    chance = random.Random()
    with running_broker(site.port) as broker, run_site(site, {"mixed": MIXED}, CELERY_BROKER_URL=broker.url) as flow:
        traffic = Traffic(flow)
        for workers in (flow.workers, flow.call_workers):
            workers.start()
            workers.start()
        for number in range(rounds):
            traffic.flow_until_a_random_moment(chance)
            chance.choice((flow.workers, flow.call_workers)).replace_one(chance)
            if number == rounds // 2:
                broker.restart()
        traffic.finish()
