"""What each page costs the server at 100 and at 10,000 skills: time and queries.

    python -m bench.pages            (a few minutes; writes bench/pages.md)

Every page that tests/browser/screens.py lists, measured inside the process, on SQLite (bench/page_probe.py). It fails
when a page asks more questions of the database with more skills.
"""

import json
import os
import shutil
import sys
from datetime import UTC, datetime

from bench import site

SIZES = (100, 10_000)
REFERENCE = "sign-in"
Figures = dict[str, tuple[float, int]]


def measure(skills: int) -> Figures:
    with site.fresh() as directory:
        os.environ["DJANGO_SETTINGS_MODULE"] = "tests.browser.settings"
        shutil.copytree(site.ROOT / "registry" / "library", directory / "library", dirs_exist_ok=True)
        site.manage("migrate", "--verbosity=0")
        printed = site.manage("shell", "-c", f"from bench import page_probe; page_probe.main({skills})")
    figures: Figures = json.loads(printed.strip().splitlines()[-1])
    return figures


def report(results: dict[int, Figures]) -> str:
    less, more = SIZES
    small, large = results[less], results[more]
    least = large[REFERENCE][0]
    lines = [
        "# What the pages cost",
        "",
        f"Last run of `python -m bench.pages`: {datetime.now(UTC):%Y-%m-%d}, {site.machine()}, SQLite, in the process.",
        "Milliseconds are medians of the time of the processor, with other work on it. “Beside sign-in” is the",
        f"page at {more:,} skills in times of the sign-in page of the same run, which is the least a page does.",
        "Each skill was loaded on five days.",
        "",
        f"| page | ms at {less} | ms at {more:,} | beside sign-in | queries at {less} | queries at {more:,} |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, (ms, queries) in small.items():
        ms_of_many, queries_of_many = large[name]
        beside = ms_of_many / least
        lines.append(f"| {name} | {ms:.1f} | {ms_of_many:.1f} | {beside:.1f} | {queries} | {queries_of_many} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    results = {size: measure(size) for size in SIZES}
    text = report(results)
    print(text)
    (site.ROOT / "bench" / "pages.md").write_text(text, encoding="utf-8")
    few, many = (results[size] for size in SIZES)
    grown = [name for name, (_, queries) in few.items() if many[name][1] > queries]
    if grown:
        sys.exit(f"More skills make more queries: {', '.join(grown)}.")


if __name__ == "__main__":
    main()
