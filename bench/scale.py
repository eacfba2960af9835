"""What a project of ten thousand skills costs beside one of a hundred: time and queries of the pages and reads.

    python -m bench.scale            (about a minute; writes bench/scale.md)

Both sizes are measured in one run, inside the process, on SQLite (bench/probe.py). Skills are made in bulk
(bench/many.py); the save and its checks are the real ones.
"""

import json
from datetime import UTC, datetime

from bench import site

SIZES = (100, 10_000)
Figures = dict[str, dict[str, tuple[float, int]]]


def measure(skills: int) -> Figures:
    site.prepare(skills)
    printed = site.manage("shell", "-c", "from bench import probe; probe.main()")
    figures: Figures = json.loads(printed.strip().splitlines()[-1])
    return figures


def report(results: dict[int, Figures]) -> str:
    small, large = SIZES
    lines = [
        "# What ten thousand skills cost",
        "",
        f"Last run of `python -m bench.scale`: {datetime.now(UTC):%Y-%m-%d}, {site.machine()}, SQLite, in the process.",
        "Milliseconds are medians of processor time, so that other work on the machine does not count. “After a",
        "change” is the first read after a skill of the project was saved, when no kept view or answer stands for the",
        "new state.",
        "",
        f"| request | when | ms at {small} | ms at {large:,} | queries at {small} | queries at {large:,} |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name, rows in results[small].items():
        for when, (milliseconds, queries) in rows.items():
            many_ms, many_queries = results[large][name][when]
            lines.append(f"| {name} | {when} | {milliseconds:.1f} | {many_ms:.1f} | {queries} | {many_queries} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    with site.fresh():
        results = {skills: measure(skills) for skills in SIZES}
    text = report(results)
    print(text)
    (site.ROOT / "bench" / "scale.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
