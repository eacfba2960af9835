"""Runs that are started and answered while a test kills the workers, and a check of all their effects at the end."""

import random
import threading
import time

from tests import effort
from tests.faults.run_flows import MIXED_PARTS, faults_of
from tests.faults.run_workers import PROJECT, RunSite

AT_ONCE = 6  # runs that have not ended


class Traffic:
    """Runs of the skill `mixed`. `names` are those that were started."""

    def __init__(self, flow: RunSite) -> None:
        self.flow = flow
        self.names: list[str] = []

    def flow_until_a_random_moment(self, chance: random.Random) -> None:
        """Answer questions and start runs for half a second to two seconds."""
        end, pause = time.monotonic() + chance.uniform(0.5, 2.0), threading.Event()
        while (left := end - time.monotonic()) > 0:
            missing = AT_ONCE - self.flow.tend()["unfinished"]
            new = [f"r{len(self.names) + number}" for number in range(missing)]
            if new:
                self.flow.start_runs("mixed", new)
                self.names += new
            pause.wait(min(left, 0.05))

    def finish(self) -> None:
        """Wait until every run has ended, and check that it had all its effects, and that nothing is left over."""
        flow, number = self.flow, len(self.names)
        flow.finish()
        assert faults_of(self.names, MIXED_PARTS, flow.service.effects()) == []
        assert [run["state"] for run in flow.runs()] == ["completed"] * number
        record = flow.helper.do("record_of_runs", PROJECT)
        assert (record["unended_steps"], record["open"], record["tasks"], record["troubles"]) == (0, 0, 0, 0)
        assert record["broken"] == []
        assert (record["verbs"]["run.started"], record["verbs"]["run.completed"]) == (number, number)
        if effort.SOAKING:
            assert record["doubts"], "no call was cut off, so the test proves nothing"
