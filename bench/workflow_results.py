"""Rows of bench/workflows.md."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A result. Without an aim it only explains others."""

    measure: str
    database: str
    result: str
    aim: str = ""
    reached: bool | None = None

    @property
    def line(self) -> str:
        verdict = {True: "reached", False: "missed", None: ""}[self.reached]
        return f"| {self.measure} | {self.database} | {self.result} | {self.aim} | {verdict} |"


def table(rows: Iterable[Row]) -> list[str]:
    return ["| measure | database | result | aim | |", "|---|---|---|---|---|", *(row.line for row in rows)]


def times(ratio: float) -> str:
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.0f}×"
