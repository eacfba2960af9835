"""Time and queries of reads and the skill list, with 100 and with 10,000 skills.

    python -m bench.scale            (about a minute; writes bench/scale.md)

Measures both sizes in one run, in one process, on SQLite (bench/scale_probe.py). Skills are created in bulk
(bench/bulk_skills.py); saves are real.
"""

import json
from datetime import UTC, datetime

from bench import site

SIZES = (100, 10_000)
Figures = dict[str, dict[str, tuple[float, int]]]


def measure(skills: int) -> Figures:
    site.prepare(skills)
    printed = site.manage("shell", "-c", "from bench import scale_probe; scale_probe.main()")
    figures: Figures = json.loads(printed.strip().splitlines()[-1])
    return figures


def report(results: dict[int, Figures]) -> str:
    small, large = SIZES
    lines = [
        "# Time and queries with 10,000 skills",
        "",
        f"Last run of `python -m bench.scale`: {datetime.now(UTC):%Y-%m-%d}, {site.machine()}, SQLite, in one process.",
        "Milliseconds are medians of processor time, which other work on the machine does not affect. “After a change”",
        "is the first read after a skill of the project was saved, when nothing is cached.",
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
