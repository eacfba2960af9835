"""Time of a pull of 1,000 skills: the first, a repeated one, one after a change, and one into a second directory.

    python -m bench.pull [number of skills]

Last result, on 2 shared and busy cores, Python 3.11, with 1,000 skills of two files and one of the demo project:

    first                               5.57 s   1,001 placed   1,003 requests   5.72 MB
    again, no changes                   0.23 s       0 placed       2 requests   0.00 MB
    one changed                         0.97 s       1 placed       3 requests   0.18 MB, mostly the list
    a second directory, same machine    2.14 s   1,001 placed       2 requests   0.00 MB
"""

import sys
import tempfile
import time
from pathlib import Path

from registry.client import SkillsiteClient
from registry.client.pull import check, pull
from tests.faults.sites import Site, new_site, serving


def write(site: Site, number: int, text: str) -> None:
    directory = site.directory / "library" / f"skill-{number:04}"
    (directory / "references").mkdir(parents=True, exist_ok=True)
    header = (
        f'---\nname: {directory.name}\ndescription: "Does thing {number}. Use when thing {number} is asked for."\n---\n'
    )
    (directory / "SKILL.md").write_text(f"{header}\n# Thing {number}\n\n{text}\n" + "Do the next step.\n" * 100)
    (directory / "references" / "details.md").write_text("One more detail.\n" * 200)


def wait_until_listed(site: Site, token: str, count: int) -> None:
    """Wait until the site lists all skills of its directory."""
    with (
        tempfile.TemporaryDirectory() as cache,
        SkillsiteClient(site.url(""), "demo", token, cache_dir=cache) as client,
    ):
        while len(client.effective().skills) < count:
            time.sleep(1)


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as name, new_site(Path(name) / "site") as site:
        directory = Path(name)
        with serving(site, "--no-worker"):
            token = site.manage("create_token", "--project", "demo", "--agent", "bench").strip()
            for number in range(count):
                write(site, number, "first")
            wait_until_listed(site, token, count)

            def measure(what: str, target: str, cache: str) -> None:
                with SkillsiteClient(site.url(""), "demo", token, cache_dir=directory / cache) as client:
                    started = time.perf_counter()
                    report = pull(client, directory / target)
                    seconds = time.perf_counter() - started
                    transfer = f"{client.stats.requests:5,} requests   {client.stats.received / 1e6:7.2f} MB"
                    assert report.complete and not check(client, directory / target)
                print(f"{what:34} {seconds:7.2f} s   {len(report.done):5,} placed   {transfer}")

            measure(f"first, {count:,} skills", "one", "cache")
            measure("again, no changes", "one", "cache")
            write(site, count // 2, "second")
            time.sleep(10)
            measure("one changed", "one", "cache")
            measure("a second directory, same machine", "two", "cache")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
