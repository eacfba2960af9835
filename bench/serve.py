"""How much of a bare Django view's speed the hot reads keep.

    python -m bench.serve            (some minutes; writes bench/serve.md)

One run starts the real server over a project of 100 skills, then of 10,000, and drives it over loopback with one load
tool. Each read takes turns with a view that returns the same bytes under the same middleware (bench/urls.py), so that
what else the machine does falls on both. Skills are made in bulk (bench/many.py). The rate limit is on, with a number
out of reach.
"""

import os
import statistics
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench import load, site

SIZES = (100, 10_000)
ROUNDS, REQUESTS, CLIENTS = 9, 1_200, 4
LARGE = 100_000  # answers of more bytes than this are asked for less often
AIMS = {"catalog": 0.4, "load": 0.4, "304": 0.5}
NEW = "load of a skill that no kept answer stands for"


@dataclass
class Measured:
    """One read over all rounds; `shares` are of the bare view's speed."""

    label: str
    bytes: int
    rates: list[float] = field(default_factory=list)
    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    def row(self, skills: int) -> str:
        share = f"{statistics.median(self.shares):.2f}" if self.shares else ""
        return (
            f"| {skills:,} | {self.label} | {self.bytes:,} | {statistics.median(self.rates):,.0f} "
            f"| {statistics.median(self.p50):.2f} | {statistics.median(self.p99):.2f} "
            f"| {statistics.median(self.cpu):,.0f} | {share} |"
        )


@dataclass(frozen=True)
class Bench:
    port: int
    pid: int

    def once(self, request: load.Request, into: Measured, requests: int) -> float:
        before = site.processor_seconds(self.pid)
        result = load.run(self.port, request, clients=CLIENTS, requests=requests)
        into.cpu.append((site.processor_seconds(self.pid) - before) / result.requests * 1e6)
        into.rates.append(result.per_second)
        into.p50.append(result.latency(0.5))
        into.p99.append(result.latency(0.99))
        return result.per_second

    def against(self, ours: load.Request, bare: load.Request, mine: Measured, theirs: Measured) -> None:
        """Bare, ours, bare: the mean of the outer two is what ours is held against."""
        requests = REQUESTS if mine.bytes < LARGE else REQUESTS // 10
        before = self.once(bare, theirs, requests // 2)
        rate = self.once(ours, mine, requests)
        after = self.once(bare, theirs, requests // 2)
        mine.shares.append(rate / statistics.mean((before, after)))


def measure(bench: Bench, token: str, skills: int, directory: Path) -> list[Measured]:
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    asked = {"catalog": f"{site.PROJECT}/catalog", "load": f"{site.PROJECT}/skills/skill-00042"}
    ours = {name: load.Request([path], headers) for name, path in asked.items()}
    bare = {name: load.Request([f"/bare/{name}-{skills}"], headers) for name in asked}
    etag = load.etag(bench.port, ours["catalog"])
    ours["304"] = load.Request([asked["catalog"]], headers | {"If-None-Match": etag}, status=304)
    bare["304"] = load.Request(["/bare/304"], headers, status=304)
    results: dict[str, tuple[Measured, Measured]] = {"304": (Measured("304", 0), Measured("bare view, 304", 0))}
    for name, path in asked.items():
        body = site.fetch(bench.port, path, token)
        (directory / "bare").mkdir(exist_ok=True)
        (directory / "bare" / f"{name}-{skills}").write_bytes(body)
        results[name] = Measured(name, len(body)), Measured(f"bare view, bytes of {name}", len(body))
    new = Measured(NEW, results["load"][0].bytes)
    for turn in range(ROUNDS):
        for name in AIMS:
            bench.against(ours[name], bare[name], *results[name])
        bench.once(_new(turn, skills, headers), new, REQUESTS // 2)
    return [*(one for name in AIMS for one in results[name]), new]


def _new(turn: int, skills: int, headers: dict[str, str]) -> load.Request:
    """Addresses that were never asked for, spread over all skills."""
    count = REQUESTS // 2
    step = max(1, skills // count)
    names = [f"skill-{number * step % skills:05}" for number in range(count)]
    return load.Request(
        [f"{site.PROJECT}/skills/{name}?turn={turn}-{number}" for number, name in enumerate(names)], headers
    )


def report(results: dict[int, list[Measured]]) -> str:
    lines = [
        "# How fast the hot reads are",
        "",
        f"Last run of `python -m bench.serve`: {datetime.now(UTC):%Y-%m-%d}, {site.machine()}. SQLite, one web worker",
        f"with four threads, the rate limit counting; {CLIENTS} keep-alive clients over loopback on the same machine.",
        f"Medians of {ROUNDS} rounds. “Share” is the speed as a share of a bare Django view that returns the same",
        "bytes under the same middleware, measured before and after in the same round. Requests a second depend on",
        "what else the machine does, shares hardly do.",
        "",
        "| skills | read | bytes | requests a second | median ms | 99th ms | processor µs each | share |",
        "|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for skills, measured in results.items():
        lines.extend(one.row(skills) for one in measured)
    lines.append("")
    for one, bare in zip(results[SIZES[0]], results[SIZES[0]][1:], strict=False):
        if aim := AIMS.get(one.label):
            share = statistics.median(one.shares)
            by_processor = statistics.median(bare.cpu) / statistics.median(one.cpu)
            verdict = "reached" if min(share, by_processor) >= aim else "missed"
            lines.append(
                f"- {one.label}: {share:.2f}, and {by_processor:.2f} by processor time; the aim is {aim}, {verdict}."
            )
    for label in ("load", NEW):
        lines.append(f"- {label}: {_growth(results, label):.2f} times the processor time at {SIZES[1]:,} skills.")
    return "\n".join(lines) + "\n"


def _growth(results: dict[int, list[Measured]], label: str) -> float:
    small, large = (next(one for one in results[size] if one.label == label) for size in SIZES)
    return statistics.median(large.cpu) / statistics.median(small.cpu)


def main() -> None:
    results = {}
    with site.fresh() as directory:
        port = int(os.environ["PORT"])
        for skills in SIZES:
            token = site.prepare(skills)
            with site.served(port) as process:
                results[skills] = measure(Bench(port, process.pid), token, skills, directory)
    text = report(results)
    print(text)
    (site.ROOT / "bench" / "serve.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
