"""Quality of routing: our chain against BM25 alone, substring match and MiniLM, in one run.

    python -m bench.routing_quality [--sets DIR] [--misses] [--write]

Each set has skills and questions: the shipped one for the built-in library, and those in DIR, as NAME/cases.jsonl and
NAME/skills/…/SKILL.md. A set is also measured among the skills of all others. Ranking: P@1, MRR and recall of the first
five matches, without a threshold. Threshold: learned from 40 random questions so that 95 % of the right answers stay,
measured on the others; mean of 20 draws. `--write` renews the section of quality in bench/routing.md.
"""

import argparse
import random
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import routing_sets
from bench.routing_rankers import Chain, Fts5, MiniLm, Ranked, Ranker, Substring
from bench.routing_sets import SkillSet
from registry.core.routing import metrics, static_table
from registry.core.routing.golden import Case
from registry.core.routing.vectors import Encoder

DRAWS, DRAWN = 20, 40
RESULTS = Path(__file__).with_name("routing.md")
BEGIN, END = "<!-- quality: python -m bench.routing_quality --write -->", "<!-- end of quality -->"


@dataclass(frozen=True)
class Row:
    label: str
    ranker: str
    p_at_1: float
    mrr: float
    recall: float
    false_triggers: float | None
    kept: float
    misses: tuple[metrics.Outcome, ...]


def measure(ranker: Ranker, skill_set: SkillSet) -> Row:
    ranker.prepare(skill_set.skills)
    ranked = [ranker.rank(case.query) for case in skill_set.cases]
    outcomes = [
        metrics.judge(case, answer.names, found=bool(answer.names))
        for case, answer in zip(skill_set.cases, ranked, strict=True)
    ]
    report = metrics.report(outcomes)
    false_triggers, kept = thresholds(ranker, skill_set.cases, ranked)
    return Row(
        skill_set.label, ranker.label, report.p_at_1 or 0.0, report.mrr or 0.0, report.recall_at_5 or 0.0,
        false_triggers, kept, tuple(one for one in report.misses if one.case.expected),
    )  # fmt: skip


def thresholds(ranker: Ranker, cases: Sequence[Case], ranked: Sequence[Ranked]) -> tuple[float | None, float]:
    """Return the share of questions without a skill that got one, and of those with a skill that got any."""
    false, kept = [], []
    pairs = list(zip(cases, ranked, strict=True))
    for draw in range(DRAWS):
        shuffled = random.Random(draw).sample(pairs, len(pairs))
        seen, rest = shuffled[:DRAWN], shuffled[DRAWN:]
        calibration, threshold = ranker.learn(
            [
                (answer.signals, answer.names[0] in case.expected)
                for case, answer in seen
                if answer.names and answer.names[0] not in case.acceptable
            ]
        )
        found = [
            (bool(case.expected), bool(answer.names) and ranker.confidence(answer.signals, calibration) >= threshold)
            for case, answer in rest
        ]
        false += (
            [statistics.fmean(hit for expected, hit in found if not expected)] if not all(e for e, _ in found) else []
        )
        kept.append(statistics.fmean(hit for expected, hit in found if expected))
    return (statistics.fmean(false) if false else None), statistics.fmean(kept)


def table(rows: Sequence[Row]) -> str:
    lines = ["| set | ranking | P@1 | MRR | recall@5 | false triggers | kept |", "|---|---|---:|---:|---:|---:|---:|"]
    for row in rows:
        false = "–" if row.false_triggers is None else f"{row.false_triggers:.3f}"
        ranking = f"{row.p_at_1:.3f} | {row.mrr:.3f} | {row.recall:.3f}"
        lines.append(f"| {row.label} | {row.ranker} | {ranking} | {false} | {row.kept:.3f} |")
    return "\n".join(lines)


def shipped_encoder() -> Encoder:
    return static_table.from_bytes((routing_sets.ROOT / "registry" / "vectors" / "words.bin").read_bytes())


def rankers() -> tuple[list[Ranker], str]:
    """Return what is compared, and a sentence about what is missing."""
    encoder = shipped_encoder()
    found: list[Ranker] = [
        Chain(encoder, "**our chain**"),
        Chain(None, "our chain without vectors"),
        Fts5("BM25 of SQLite, name and description", everything=False),
        Fts5("BM25 of SQLite, everything", everything=True),
        Substring(),
    ]
    try:
        return [*found, MiniLm()], ""
    except ImportError as error:
        return found, f"MiniLM was not measured: the package {error.name} is not installed."


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=Path, help="a directory of other sets")
    parser.add_argument("--misses", action="store_true", help="print the questions that our chain misses")
    parser.add_argument("--write", action="store_true", help="write the table to bench/routing.md")
    arguments = parser.parse_args()
    sets = [routing_sets.shipped(), *(routing_sets.others(arguments.sets) if arguments.sets else [])]
    if len(sets) > 1:
        sets += [one.among([other for other in sets if other is not one]) for one in list(sets)]
    compared, missing = rankers()
    rows = []
    for one in sets:
        for ranker in compared:
            rows.append(measure(ranker, one))
            print(table(rows[-1:]).splitlines()[-1], flush=True)
        if arguments.misses:
            for miss in rows[-len(compared)].misses:
                print(f"  MISS {miss.case.query[:100]!r}: {miss.case.expected} but {miss.ranking[:3]}")
    if missing:
        print(missing)
    if arguments.write:
        write(rows, missing)


def write(rows: Sequence[Row], missing: str) -> None:
    section = f"""{BEGIN}
## Quality

Last run of `python -m bench.routing_quality`: {datetime.now(UTC):%Y-%m-%d}. Ranking without a threshold, cases with an
acceptable answer left out. False triggers and kept: the threshold is learned from {DRAWN} questions and measured on the
others, mean of {DRAWS} draws. “Among” adds the skills of all other sets: a
question that no skill of its own set answers may have an answer there, so these rows count false triggers too high.
Most questions of the gtm set are quoted in its descriptions. The shipped weights were learned from all sets but the one
of the built-in library. {missing}

{table(rows)}

{END}"""
    replace_section(BEGIN, END, section)


def replace_section(begin: str, end: str, section: str) -> None:
    """Replace a section of bench/routing.md, or add it. It starts with `begin` and ends with `end`."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Routing: quality and speed\n"
    if begin in text:
        text = re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: section, text, flags=re.DOTALL)
    else:
        text = f"{text.rstrip()}\n\n{section}\n"
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
