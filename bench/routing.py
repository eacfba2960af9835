"""Speed and memory of routing at 100, 1,000 and 10,000 skills, against BM25 of SQLite, substring search and MiniLM.

    python -m bench.routing [--sizes 100,1000]     (about ten minutes; writes the section of speed in bench/routing.md)

One process for each size, on SQLite. The skills are generated (bench/routing_skills.py) and stored as project skills,
so a build also reads them from the database and the blob storage. bench/routing_quality.py measures what is found.
"""

import argparse
import json
from datetime import UTC, datetime
from typing import Any

from bench import routing_quality, site

SIZES = (100, 1_000, 10_000)
BEGIN, END = "<!-- speed: python -m bench.routing -->", "<!-- end of speed -->"
_RANKERS = {
    "chain": "our chain",
    "search": "search box",
    "fts5": "BM25 alone (SQLite FTS5)",
    "substring": "substring",
    "minilm": "MiniLM-L6, int8",
}


def measure(count: int) -> dict[str, Any]:
    printed = site.manage("shell", "-c", f"from bench import routing_probe; routing_probe.main({count})")
    figures: dict[str, Any] = json.loads(printed.strip().splitlines()[-1])
    return figures


def report(results: list[dict[str, Any]]) -> str:
    lines = [
        "## Speed and memory",
        "",
        f"Last run of `python -m bench.routing`: {datetime.now(UTC):%Y-%m-%d}, {site.machine()}, SQLite.",
        "Milliseconds of a question are processor time, which other work on the machine affects least. In brackets:",
        "elapsed time.",
        "",
        "| skills | ranker | p50 ms | p99 ms |",
        "|---:|---|---:|---:|",
    ]
    for figures in results:
        for key, label in _RANKERS.items():
            if (each := figures.get(key)) is None:
                continue
            lines.append(
                f"| {figures['skills']:,} | {label} | {each['p50']:.1f} ({each['wall_p50']:.1f}) "
                f"| {each['p99']:.1f} ({each['wall_p99']:.1f}) |"
            )
    lines += [
        "",
        "A build analyses every skill; a warm start reads the analysed skills from the file of the node. An update is",
        "the time in which the index follows one saved skill. The editor's preview saves a draft, checks it, and shows",
        "its impact on 300 test questions; in brackets: the slowest one.",
        "",
        "| skills | build, s | warm start, s | update of one, ms | editor preview, ms | more memory, MB | file, MB |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for figures in results:
        lines.append(
            f"| {figures['skills']:,} | {figures['build_cpu']:.1f} ({figures['build']:.1f}) "
            f"| {figures['warm_cpu']:.2f} ({figures['warm']:.2f}) | {figures['update']:.1f} "
            f"| {figures['editor']['p50']:.0f} ({figures['editor']['most']:.0f}) "
            f"| {figures['memory']:.0f} | {figures['store']:.0f} |"
        )
    lines += ["", *(_minilm(figures) for figures in results)]
    return "\n".join(lines) + "\n"


def _minilm(figures: dict[str, Any]) -> str:
    skills = f"{figures['skills']:,} skills"
    if (each := figures.get("minilm")) is None:
        return f"- MiniLM was not measured with {skills}: its packages are not installed."
    return f"- MiniLM encodes {skills} in {each['build']:.0f} s and takes {each['memory']:.0f} MB more memory."


def main() -> None:
    arguments = argparse.ArgumentParser(description="Measure the speed of routing.")
    arguments.add_argument("--sizes", default=",".join(map(str, SIZES)))
    sizes = [int(size) for size in arguments.parse_args().sizes.split(",")]
    with site.fresh():
        site.manage("migrate", "--verbosity=0")
        text = report([measure(size) for size in sizes])
    print(text)
    routing_quality.replace_section(BEGIN, END, f"{BEGIN}\n\n{text}\n{END}")


if __name__ == "__main__":
    main()
