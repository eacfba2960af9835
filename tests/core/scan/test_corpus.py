"""The scan finds planted skills and leaves look-alikes alone, also those that no rule was tuned on."""

from pathlib import Path

import pytest

from registry.core.bundle import Bundle
from registry.core.findings import Category
from registry.core.lint import rules
from registry.core.scan.report import ScanStatus
from registry.core.scan.scanner import scan
from tests.core.scan.corpus import Sample, samples
from tests.directories import read_files

LIBRARY = Path(rules.__file__).parents[2] / "library"
LEAST_FOUND, MOST_ALARMS = 0.8, 0.08


def alarming(chosen: list[Sample]) -> float:
    return sum(bool(sample.alarms) for sample in chosen) / len(chosen)


@pytest.mark.parametrize("held", [False, True], ids=["tuned", "held"])
def test_planted_skills_are_found(held: bool) -> None:
    chosen = [sample for sample in samples("bad") if sample.held is held]
    assert alarming(chosen) >= LEAST_FOUND


@pytest.mark.parametrize("held", [False, True], ids=["tuned", "held"])
def test_look_alikes_raise_no_alarm(held: bool) -> None:
    chosen = [sample for sample in samples("good") if sample.held is held]
    assert alarming(chosen) <= MOST_ALARMS


@pytest.mark.parametrize("name", ["late", "second", "third", "fourth", "fifth", "sixth", "seventh"])
def test_skills_written_after_the_rules_are_told_apart(name: str) -> None:
    assert alarming(list(samples(f"{name}_bad"))) >= LEAST_FOUND
    assert alarming(list(samples(f"{name}_good"))) <= MOST_ALARMS


def test_the_corpus_is_large_enough_and_a_third_is_held_back() -> None:
    for prefix in ("bad", "good"):
        chosen = samples(prefix)
        assert len(chosen) >= 50 and len({sample.id for sample in chosen}) == len(chosen)
        assert 0.3 < sum(sample.held for sample in chosen) / len(chosen) < 0.37


@pytest.mark.parametrize("sample", [each for each in samples("bad") if not each.held], ids=lambda each: each.id)
def test_an_alarm_names_file_line_consequence_and_fix(sample: Sample) -> None:
    for alarm in sample.alarms:
        assert alarm.file in sample.bundle and alarm.line
        assert alarm.line <= sample.bundle[alarm.file].count(b"\n") + 1
        assert alarm.message.endswith((".", "”")) and alarm.fix.endswith(".")
        assert alarm.category is Category.SECURITY and "safe" not in alarm.message.split()


@pytest.mark.parametrize("path", sorted(path.parent for path in LIBRARY.glob("*/SKILL.md")), ids=lambda path: path.name)
def test_built_in_skills_raise_no_alarm(path: Path) -> None:
    report = scan(Bundle(read_files(path)))
    assert report.alarms == () and report.status in (ScanStatus.NONE, ScanStatus.FINDINGS)
