"""Time of the security scan in a request, and how many planted skills and look-alikes it tells apart.

    python -m bench.scan

"ratio" compares the fast part of the scan with parsing SKILL.md of the same skill, in processor time, so that it does
not depend on the machine. The skills are the built-in ones.

Last result, 2 shared cores, Python 3.11:

    fast part: median 19.0 ms, most 45.1 ms
    ratio to parsing: median 33, most 54
    bad, tuned                43 of  43 alarm
    bad, held                 21 of  22 alarm
    bad, late                 20 of  20 alarm
    bad, second               15 of  15 alarm
    bad, third                10 of  10 alarm
    bad, fourth               24 of  25 alarm
    bad, fifth                20 of  20 alarm
    bad, sixth                55 of  57 alarm
    bad, seventh              23 of  25 alarm
    good, tuned                0 of  40 alarm
    good, held                 1 of  21 alarm
    good, late                 0 of  20 alarm
    good, second               0 of  15 alarm
    good, third                0 of  10 alarm
    good, fourth               0 of  25 alarm
    good, fifth                0 of  20 alarm
    good, sixth                0 of  57 alarm
    good, seventh              2 of  50 alarm
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md
from registry.core.limits import DEFAULT
from registry.core.lint.context import readable
from registry.core.scan import scanner
from tests.core.scan.corpus import Sample, samples

LIBRARY = Path(skill_md.__file__).parents[2] / "library"
ROUNDS = 5


def milliseconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) * 1_000


def bundle(directory: Path) -> Bundle:
    files = (path for path in directory.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return Bundle({path.relative_to(directory).as_posix(): path.read_bytes() for path in files})


def speed() -> None:
    scans, ratios = [], []
    for path in sorted(LIBRARY.glob("*/SKILL.md")):
        made = bundle(path.parent)
        skill, texts = skill_md.read(made[SKILL_MD]), readable(made, DEFAULT)
        scans.append(milliseconds(lambda texts=texts, skill=skill: list(scanner.fast(texts, skill, None))))
        ratios.append(scans[-1] / milliseconds(lambda made=made: skill_md.read(made[SKILL_MD])))
    print(f"fast part: median {statistics.median(scans):.1f} ms, most {max(scans):.1f} ms")
    print(f"ratio to parsing: median {statistics.median(ratios):.0f}, most {max(ratios):.0f}")


def show(what: str, chosen: list[Sample]) -> None:
    found = sum(bool(sample.alarms) for sample in chosen)
    print(f"{what:24} {found:3} of {len(chosen):3} alarm")


if __name__ == "__main__":
    speed()
    for kind in ("bad", "good"):
        show(f"{kind}, tuned", [sample for sample in samples(kind) if not sample.held])
        show(f"{kind}, held", [sample for sample in samples(kind) if sample.held])
        for name in ("late", "second", "third", "fourth", "fifth", "sixth", "seventh"):
            show(f"{kind}, {name}", list(samples(f"{name}_{kind}")))
