"""Workers of runs are killed at random moments: every run ends, and no effect is lost or happens once too often."""

import random

import pytest

from tests.faults.run_flows import MIXED
from tests.faults.run_traffic import Traffic
from tests.faults.run_workers import run_site
from tests.faults.sites import Site

pytestmark = pytest.mark.races


def test_runs_survive_the_kill_of_their_workers(site: Site, rounds: int) -> None:
    chance = random.Random()
    with run_site(site, {"mixed": MIXED}) as flow:
        traffic = Traffic(flow)
        flow.workers.start()
        flow.workers.start()
        for _ in range(rounds):
            traffic.flow_until_a_random_moment(chance)
            flow.workers.replace_one(chance)
        traffic.finish()
