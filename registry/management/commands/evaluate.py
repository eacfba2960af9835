"""Run the test questions of a project, or of the built-in skills, and print whether they pass the gate."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.core.errors import SkillsiteError
from registry.core.routing import gate, golden_files, metrics
from registry.core.routing.golden import Case
from registry.core.routing.metrics import Outcome
from registry.models import Project
from registry.services import permissions
from registry.services.routing import evaluation_records, evaluations, golden_set, library_set
from registry.services.routing.evaluations import Measured

_QUERY_SHOWN = 200


class Command(BaseCommand):
    help = "Run test questions and print P@1, MRR and every miss. Exits with 1 unless the gate passes."

    def add_arguments(self, parser: CommandParser) -> None:
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--project", metavar="SLUG", help="run the project's test questions and store the result")
        where.add_argument("--library", action="store_true", help="run the shipped questions on the built-in skills")
        parser.add_argument("--golden", type=Path, metavar="FILE", help="run these questions; the result is not stored")
        parser.add_argument(
            "--skill", default="", metavar="NAME", help="the skill of a FILE with “should_trigger” only"
        )
        parser.add_argument("--no-learn", action="store_true", help="keep the threshold as it is")
        parser.add_argument("--threshold", type=float, metavar="X", help="use this threshold; the result is not stored")
        for limit, default in asdict(gate.Limits()).items():
            name = f"--{limit.replace('_', '-')}"
            help_text = f"limit of the gate, with --library only; {default} by default"
            parser.add_argument(name, type=type(default), default=default, metavar="X", help=help_text)
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        _check_numbers(options)
        try:
            measured = self._measure(options)
        except SkillsiteError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from error
        if options["json"]:
            self.stdout.write(json.dumps(evaluation_records.report_shape(measured), ensure_ascii=False, indent=2))
        else:
            self._print(measured)
        if not measured.verdict.passed:
            sys.exit(1)

    def _measure(self, options: dict[str, Any]) -> Measured:
        learn, threshold, file = not options["no_learn"], options["threshold"], options["golden"]
        if options["skill"] and not file:
            raise CommandError("--skill names the skill of a file. Add --golden FILE.")
        limits = gate.Limits(**{name: options[name] for name in asdict(gate.Limits())})
        if options["library"]:
            cases = _read(file or library_set.PATH, options["skill"])
            return evaluations.measure_library(cases, learn=learn, threshold=threshold, limits=limits)
        if limits != gate.Limits():
            raise CommandError("A project has its own limits. Change them in its routing settings.")
        project = Project.objects.filter(slug=options["project"], archived_at=None).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        if file is None and threshold is None:
            return evaluations.run_in_full(project, by=permissions.operator(), learn=learn)[1]
        cases = _read(file, options["skill"]) if file else golden_set.all_of(project.pk)
        return evaluations.measure(project, cases, learn=learn, threshold=threshold)

    def _print(self, measured: Measured) -> None:
        report = measured.report
        self.stdout.write(f"dispatch eval: P@1={_rate(report.p_at_1)} MRR={_rate(report.mrr)} (n={report.cases})")
        for outcome in report.misses:
            self.stdout.write(_miss(outcome))
        for stale in report.stale:
            self.stdout.write(f"  STALE: {_shown(stale.case.query)} {stale.reason}")
        self.stdout.write(
            f"recall@5={_rate(report.recall_at_5)} false triggers={_rate(report.false_triggers)} "
            f"threshold={measured.threshold:.3f} ({measured.origin})"
        )
        word = {True: "PASS", False: "FAIL: ", None: ""}[measured.verdict.passed]
        self.stdout.write(word + " ".join(measured.verdict.reasons))


def _check_numbers(options: dict[str, Any]) -> None:
    """Refuse a number that no rate can have. Every rate would be within a limit that is not a number."""
    for name in ("threshold", "least_p_at_1", "least_mrr", "most_false_triggers"):
        if options[name] is not None and not 0 <= options[name] <= 1:
            raise CommandError(f"--{name.replace('_', '-')} is a number from 0 to 1; not {options[name]}.")
    if options["least_cases"] < 1:
        raise CommandError(f"--least-cases is at least 1; not {options['least_cases']}.")


def _read(file: Path, skill: str) -> tuple[Case, ...]:
    if file.stat().st_size > golden_files.FILE_BYTES:
        raise CommandError(f"{file} has more than {golden_files.FILE_BYTES:,} bytes.")
    return golden_files.read(file.read_bytes(), skill=skill)


def _miss(outcome: Outcome) -> str:
    expected = ", ".join(outcome.case.expected) or "<none>"
    got = "<error>" if outcome.verdict == metrics.ERROR else outcome.picked or "<none>"
    return f"  MISS: {_shown(outcome.case.query)} expected {expected} got {got}"


def _shown(query: str) -> str:
    """Return a question in quotes, with its control characters escaped, and cut if it is long."""
    return repr(query if len(query) <= _QUERY_SHOWN else query[:_QUERY_SHOWN] + "…")


def _rate(rate: float | None) -> str:
    return "none" if rate is None else f"{rate:.3f}"
