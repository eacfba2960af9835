"""Time and queries of every page, with 100 and with 10,000 skills.

    python -m bench.pages            (a few minutes; writes bench/pages.md)

Measures every page in tests/browser/screens.py in one process, on SQLite (bench/pages_probe.py). Fails if a page needs
more queries with more skills.
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
        printed = site.manage("shell", "-c", f"from bench import pages_probe; pages_probe.main({skills})")
    figures: Figures = json.loads(printed.strip().splitlines()[-1])
    return figures


def report(results: dict[int, Figures]) -> str:
    less, more = SIZES
    small, large = results[less], results[more]
    reference = large[REFERENCE][0]
    lines = [
        "# Time and queries of every page",
        "",
        f"Last run of `python -m bench.pages`: {datetime.now(UTC):%Y-%m-%d}, {site.machine()}, SQLite, in one process.",
        "Milliseconds are medians of processor time. “Relative” compares the page at",
        f"{more:,} skills with the sign-in page, the simplest page, of the same run.",
        "Each skill was loaded on five days.",
        "",
        f"| page | ms at {less} | ms at {more:,} | relative | queries at {less} | queries at {more:,} |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, (ms, queries) in small.items():
        ms_of_many, queries_of_many = large[name]
        relative = ms_of_many / reference
        lines.append(f"| {name} | {ms:.1f} | {ms_of_many:.1f} | {relative:.1f} | {queries} | {queries_of_many} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    results = {size: measure(size) for size in SIZES}
    text = report(results)
    print(text)
    (site.ROOT / "bench" / "pages.md").write_text(text, encoding="utf-8")
    few, many = (results[size] for size in SIZES)
    grown = [name for name, (_, queries) in few.items() if many[name][1] > queries]
    if grown:
        sys.exit(f"These pages need more queries with more skills: {', '.join(grown)}.")


if __name__ == "__main__":
    main()
