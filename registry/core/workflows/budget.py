"""The budget of a run: how much work it may be in all, and how much before other runs get their turn."""

MOST_RECORDS = 20_000
# Values that are read, compared and stored. A million takes about a second.
MOST_WORK = 30_000_000  # since the worker took the run
WORK_AT_ONCE = 500_000
STEPS_AT_ONCE = 200


class Budget:
    def __init__(self, most_work: int = MOST_WORK) -> None:
        self.work = 0
        self._most_work = most_work
        self._work_left = self._steps_left = 0

    @property
    def allows_more(self) -> bool:
        """Return whether this decision may take another step. The worker renews its leases between decisions."""
        return self._work_left > 0 and self._steps_left > 0

    def begin(self) -> None:
        """Begin a decision."""
        self._work_left, self._steps_left = WORK_AT_ONCE, STEPS_AT_ONCE

    def spend(self, work: int) -> None:
        self.work += work
        self._work_left -= work

    def take_step(self, records: int) -> str:
        """Count a step. Return why the run has to end, or an empty text. `records` is how many steps it has."""
        self._steps_left -= 1
        if records >= MOST_RECORDS:
            return f"The run has more than {MOST_RECORDS:,} steps. Divide the work into several runs."
        if self.work > self._most_work:
            message = f"The steps of the run have read, compared and stored more than {self._most_work:,} values."
            return f"{message} Divide the work into several runs."
        return ""
