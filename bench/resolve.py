"""Time to resolve 50 cached definitions, compared with reading the same files in plain Python.

    python -m bench.resolve            (several seconds; writes bench/resolve.md)

Skills of three sizes are fetched from a server on loopback into an empty cache. Then one process alternates between
resolving them and reading their files by known paths, so that other work on the machine affects both. The first call in
a new process is measured as well.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench import site
from registry.core.archive.zip_bundle import write_zip
from registry.core.bundle import SKILL_MD, Bundle
from registry.remote import resolver
from tests.remote.web import Web
from tests.services.receivers import receiving

DEFINITIONS, ROUNDS, STARTS = 50, 60, 7
TARGET = 3.0
SHAPES = {"SKILL.md alone": (0, 0), "with four files of 3 kB": (4, 3_000), "with twenty files of 10 kB": (20, 10_000)}


@dataclass
class Measured:
    ours: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)

    @property
    def times(self) -> float:
        return statistics.median(self.ours) / statistics.median(self.plain)

    def row(self, shape: str, when: str) -> str:
        ours, plain = statistics.median(self.ours) * 1e3, statistics.median(self.plain) * 1e3
        return f"| {shape} | {when} | {plain:.2f} | {ours:.2f} | {self.times:.2f} |"


def bundle(number: int, files: int, size: int) -> Bundle:
    text = (
        f'---\nname: skill-{number}\ndescription: "Does thing {number}. Use when thing {number} is asked for."\n---\n\n'
    )
    body = f"# Thing {number}\n\n" + "Do the next step, then look at what came of it.\n" * 80
    more = {f"references/part-{n:02}.md": (f"Detail {n}.\n".encode() * (size // 8))[:size] for n in range(files)}
    return Bundle({SKILL_MD: (text + body).encode(), **more})


def definitions(where: str) -> list[dict[str, str]]:
    return [{"name": f"skill-{n}", "version": "1", "url": f"{where}/skill-{n}.zip"} for n in range(DEFINITIONS)]


def fill(root: Path, files: int, size: int) -> list[dict[str, str]]:
    with receiving() as receiver:
        web = Web(receiver)
        for number in range(DEFINITIONS):
            web.put(f"/skill-{number}.zip", write_zip(bundle(number, files, size)))
        entries = definitions(web.url(""))
        results = resolver.resolve(entries, root=root, allowed=web.allowed)
        assert {one.status for one in results} == {"loaded"}, results
    return entries


def plain_read(root: Path) -> Callable[[], None]:
    paths = sorted(str(path) for path in (root / "skills").glob("*/1/**/*") if path.is_file())

    def read() -> None:
        for path in paths:
            with open(path, "rb") as file:  # noqa: PTH123 - the fastest way to read a file
                file.read()

    return read


def cached_resolve(root: Path, entries: list[dict[str, str]]) -> Callable[[], None]:
    def resolve() -> None:
        results = resolver.resolve(entries, root=root)
        assert all(one.status == "cached" for one in results)

    return resolve


def timed(work: Callable[[], None]) -> float:
    """Return processor time, which other work on the machine does not affect."""
    started = time.process_time()
    work()
    return time.process_time() - started


def warm(root: Path, entries: list[dict[str, str]]) -> Measured:
    result, ours, plain = Measured(), cached_resolve(root, entries), plain_read(root)
    time.sleep(3)  # files that changed within the last seconds are always read again
    ours(), plain()
    for _ in range(ROUNDS):
        result.plain.append(timed(plain))
        result.ours.append(timed(ours))
    return result


def cold(root: Path, where: str) -> Measured:
    """Measure each first call in a new process."""
    result = Measured()
    for _ in range(STARTS):
        for what, into in (("plain", result.plain), ("ours", result.ours)):
            command = [sys.executable, "-m", "bench.resolve", what, str(root), where]
            done = subprocess.run(command, cwd=site.ROOT, check=True, stdout=subprocess.PIPE, text=True)
            into.append(float(done.stdout))
    return result


def report(rows: list[str], worst: float) -> str:
    verdict = "reached" if worst <= TARGET else "missed"
    return "\n".join(
        [
            "# Time to resolve cached definitions",
            "",
            f"Last run of `python -m bench.resolve`: {datetime.now(UTC):%Y-%m-%d}, {site.machine()}.",
            f"Resolving {DEFINITIONS} definitions with the library behind `/resolve`, compared with reading all their",
            "files in plain Python. The first call in a process reads and hashes the files and their records; later",
            "calls check whether a file changed. Every call returns digests and the list of files. Milliseconds of",
            f"processor time, medians of {ROUNDS} rounds in one process, and of {STARTS} new processes.",
            "",
            "| skills | call | plain read, ms | resolve, ms | times |",
            "|---|---|---:|---:|---:|",
            *rows,
            "",
            f"The target is at most {TARGET:g} times the plain read. The worst is {worst:.2f}: {verdict}.",
            "",
        ]
    )


def main() -> None:
    rows, worst = [], 0.0
    for shape, (files, size) in SHAPES.items():
        with tempfile.TemporaryDirectory(prefix="skillsite-bench-") as name:
            entries = fill(Path(name), files, size)
            measured = warm(Path(name), entries)
            worst = max(worst, measured.times)
            where = entries[0]["url"].rpartition("/")[0]
            rows += [measured.row(shape, "again"), cold(Path(name), where).row(shape, "first in a process")]
    text = report(rows, worst)
    print(text)
    (site.ROOT / "bench" / "resolve.md").write_text(text, encoding="utf-8")


def once(what: str, root: Path, where: str) -> None:
    work = plain_read(root) if what == "plain" else cached_resolve(root, definitions(where))
    print(timed(work))


if __name__ == "__main__":
    once(sys.argv[1], Path(sys.argv[2]), sys.argv[3]) if len(sys.argv) > 1 else main()
