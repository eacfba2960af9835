"""Requests per second of frequent reads, compared with a bare Django view.

    python -m bench.serve            (several minutes; writes bench/serve.md)

One run starts the server with a project of 100 skills, then with 10,000, and sends requests over loopback. Each read
alternates with a view that returns the same bytes with the same middleware (bench/urls.py), so that other work on the
machine affects both. Skills are created in bulk (bench/bulk_skills.py). The rate limit is on, but very high.
"""

import os
import statistics
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench import load, site

SIZES = (100, 10_000)
ROUNDS, REQUESTS, CLIENTS = 9, 1_200, 4
LARGE = 100_000  # bytes; larger responses are requested less often
TARGETS = {"catalog": 0.4, "load": 0.4, "304": 0.5}
UNCACHED = "load, uncached"


@dataclass
class Measured:
    """Results of one read over all rounds. `shares` are relative to the bare view."""

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

    def compare(self, ours: load.Request, bare: load.Request, mine: Measured, theirs: Measured) -> None:
        """Measure the bare view, our read and the bare view again; compare with the mean of the bare view."""
        requests = REQUESTS if mine.bytes < LARGE else REQUESTS // 10
        before = self.once(bare, theirs, requests // 2)
        rate = self.once(ours, mine, requests)
        after = self.once(bare, theirs, requests // 2)
        mine.shares.append(rate / statistics.mean((before, after)))


def measure(bench: Bench, token: str, skills: int, directory: Path) -> list[Measured]:
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    paths = {"catalog": f"{site.PROJECT}/catalog", "load": f"{site.PROJECT}/skills/skill-00042"}
    ours = {name: load.Request([path], headers) for name, path in paths.items()}
    bare = {name: load.Request([f"/bare/{name}-{skills}"], headers) for name in paths}
    etag = load.etag(bench.port, ours["catalog"])
    ours["304"] = load.Request([paths["catalog"]], headers | {"If-None-Match": etag}, status=304)
    bare["304"] = load.Request(["/bare/304"], headers, status=304)
    results: dict[str, tuple[Measured, Measured]] = {"304": (Measured("304", 0), Measured("bare view, 304", 0))}
    for name, path in paths.items():
        body = site.fetch(bench.port, path, token)
        (directory / "bare").mkdir(exist_ok=True)
        (directory / "bare" / f"{name}-{skills}").write_bytes(body)
        results[name] = Measured(name, len(body)), Measured(f"bare view, bytes of {name}", len(body))
    uncached = Measured(UNCACHED, results["load"][0].bytes)
    for turn in range(ROUNDS):
        for name in TARGETS:
            bench.compare(ours[name], bare[name], *results[name])
        bench.once(_uncached(turn, skills, headers), uncached, REQUESTS // 2)
    return [*(one for name in TARGETS for one in results[name]), uncached]


def _uncached(turn: int, skills: int, headers: dict[str, str]) -> load.Request:
    """Return requests for new URLs, spread over all skills."""
    count = REQUESTS // 2
    step = max(1, skills // count)
    names = [f"skill-{number * step % skills:05}" for number in range(count)]
    return load.Request(
        [f"{site.PROJECT}/skills/{name}?turn={turn}-{number}" for number, name in enumerate(names)], headers
    )


def report(results: dict[int, list[Measured]]) -> str:
    lines = [
        "# Requests per second of frequent reads",
        "",
        f"Last run of `python -m bench.serve`: {datetime.now(UTC):%Y-%m-%d}, {site.machine()}. SQLite, one web worker",
        f"with four threads, rate limits on; {CLIENTS} keep-alive clients over loopback on the same machine. Medians",
        f"of {ROUNDS} rounds. “Share” is the rate relative to a bare Django view that returns the same bytes with the",
        "same middleware, measured before and after in the same round. Other work on the machine affects requests",
        "per second, but hardly the share.",
        "",
        "| skills | read | bytes | requests per second | median ms | 99th ms | processor µs each | share |",
        "|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for skills, measured in results.items():
        lines.extend(one.row(skills) for one in measured)
    lines.append("")
    for one, bare in zip(results[SIZES[0]], results[SIZES[0]][1:], strict=False):
        if target := TARGETS.get(one.label):
            share = statistics.median(one.shares)
            by_processor = statistics.median(bare.cpu) / statistics.median(one.cpu)
            verdict = "reached" if min(share, by_processor) >= target else "missed"
            lines.append(
                f"- {one.label}: {share:.2f}, by processor time {by_processor:.2f}; the target is {target}: {verdict}."
            )
    for label in ("load", UNCACHED):
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
