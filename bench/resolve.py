"""What resolving costs when everything is cached: 50 definitions against reading the same files with plain Python.

    python -m bench.resolve            (some seconds; writes bench/resolve.md)

Skills of three sizes are fetched from a server on loopback into an empty cache. Then resolving them and opening and
reading each of their files, by paths that are known, take turns in one process, so that what else the machine does
falls on both. The first call in a new process is measured as well.
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
AIM = 3.0
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
        wanted = definitions(web.url(""))
        found = resolver.resolve(wanted, root=root, allowed=web.allowed)
        assert {one.status for one in found} == {"loaded"}, found
    return wanted


def reading(root: Path) -> Callable[[], None]:
    paths = sorted(str(path) for path in (root / "skills").glob("*/1/**/*") if path.is_file())

    def read() -> None:
        for path in paths:
            with open(path, "rb") as file:  # noqa: PTH123 - as plain as it gets
                file.read()

    return read


def resolves(root: Path, wanted: list[dict[str, str]]) -> Callable[[], None]:
    def resolve() -> None:
        found = resolver.resolve(wanted, root=root)
        assert all(one.status == "cached" for one in found)

    return resolve


def timed(work: Callable[[], None]) -> float:
    """Processor time, which other work on the machine does not change; nothing here waits for anything."""
    started = time.process_time()
    work()
    return time.process_time() - started


def warm(root: Path, wanted: list[dict[str, str]]) -> Measured:
    result, ours, plain = Measured(), resolves(root, wanted), reading(root)
    time.sleep(3)  # what changed a moment ago is always read anew
    ours(), plain()
    for _ in range(ROUNDS):
        result.plain.append(timed(plain))
        result.ours.append(timed(ours))
    return result


def cold(root: Path, where: str) -> Measured:
    """Each number is the first of its kind in a process of its own."""
    result = Measured()
    for _ in range(STARTS):
        for what, into in (("plain", result.plain), ("ours", result.ours)):
            command = [sys.executable, "-m", "bench.resolve", what, str(root), where]
            done = subprocess.run(command, cwd=site.ROOT, check=True, stdout=subprocess.PIPE, text=True)
            into.append(float(done.stdout))
    return result


def report(rows: list[str], worst: float) -> str:
    verdict = "reached" if worst <= AIM else "missed"
    return "\n".join(
        [
            "# What resolving costs when everything is cached",
            "",
            f"Last run of `python -m bench.resolve`: {datetime.now(UTC):%Y-%m-%d}, {site.machine()}.",
            f"{DEFINITIONS} definitions resolved by the library, which is what `/resolve` calls, against opening and",
            "reading every one of their files with plain Python. The first call in a process reads and hashes the same",
            "files and reads the record beside each copy; later ones look whether anything changed. Every call answers",
            "with digests and the list of files. Milliseconds of processor time, medians of",
            f"{ROUNDS} turns in one process, and of {STARTS} new processes.",
            "",
            "| skills | call | plain read, ms | resolve, ms | times |",
            "|---|---|---:|---:|---:|",
            *rows,
            "",
            f"The aim is at most {AIM:g} times the plain read in one process; the worst was {worst:.2f}, {verdict}.",
            "",
        ]
    )


def main() -> None:
    rows, worst = [], 0.0
    for shape, (files, size) in SHAPES.items():
        with tempfile.TemporaryDirectory(prefix="skillsite-bench-") as given:
            wanted = fill(Path(given), files, size)
            measured = warm(Path(given), wanted)
            worst = max(worst, measured.times)
            where = wanted[0]["url"].rpartition("/")[0]
            rows += [measured.row(shape, "again"), cold(Path(given), where).row(shape, "first in a process")]
    text = report(rows, worst)
    print(text)
    (site.ROOT / "bench" / "resolve.md").write_text(text, encoding="utf-8")


def once(what: str, root: Path, where: str) -> None:
    work = reading(root) if what == "plain" else resolves(root, definitions(where))
    print(timed(work))


if __name__ == "__main__":
    once(sys.argv[1], Path(sys.argv[2]), sys.argv[3]) if len(sys.argv) > 1 else main()
