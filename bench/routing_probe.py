"""Times and memory of the routing index at one size. bench/routing.py runs this in a Django shell."""

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from bench import bulk_skills, routing_editor, routing_skills
from bench.routing_rankers import MiniLm
from registry.core.bundle import SKILL_MD
from registry.core.routing import skill_text
from registry.lib import lru
from registry.models import Project
from registry.services import permissions
from registry.services.catalog import catalog
from registry.services.people import projects
from registry.services.routing import encoder, indexes, routing
from registry.services.skills import skills

QUESTIONS, UPDATES = 400, 10
_FTS_WORDS = 30


def main(count: int) -> None:
    """Fill a project of its own, measure it, and print the figures as JSON."""
    project = projects.create(slug=f"bench-{count}", name="Bench", by=permissions.operator())
    bulk_skills.fill(project, count, make=routing_skills.bundle)
    encoder.current()
    figures: dict[str, Any] = {"skills": count, **_index(project), **_updates(project)}
    questions = routing_skills.questions(count, QUESTIONS)
    project.refresh_from_db()
    revision = project.revision
    figures["chain"] = _latency(questions, lambda text: routing.route(project.pk, revision, text, threshold=0.0))
    figures["search"] = _latency(questions, lambda text: routing.search(project.pk, revision, text))
    figures["fts5"] = _latency(questions, _fts5(project))
    figures["substring"] = _latency(questions, _substring(project))
    figures["editor"] = routing_editor.measure(project, count)
    if minilm := _minilm(project, questions):
        figures["minilm"] = minilm
    print(json.dumps(figures))


def _index(project: Project) -> dict[str, float]:
    project.refresh_from_db()
    view = catalog.view(project.pk, project.revision)
    before, started, cpu = _resident(), time.perf_counter(), time.process_time()
    built = indexes.of(project.pk, project.revision, complete=True)
    figures = {
        "build_cpu": time.process_time() - cpu,
        "build": time.perf_counter() - started,
        "memory": (_resident() - before) / 1e6,
        "arrays": built.index.nbytes / 1e6,
        "store": Path(settings.SKILLSITE_DATA, "routing", "index.sqlite3").stat().st_size / 1e6,
    }
    del built, view
    lru.clear_all()
    catalog.view(project.pk, project.revision)
    started, cpu = time.perf_counter(), time.process_time()
    indexes.of(project.pk, project.revision, complete=True)
    return figures | {"warm_cpu": time.process_time() - cpu, "warm": time.perf_counter() - started}


def _updates(project: Project) -> dict[str, float]:
    """Return the median time in which the index follows one saved skill. Reading the view is not part of it."""
    taken = []
    for number in range(UPDATES):
        name = f"skill-{number:05}"
        base = indexes.of(project.pk, project.revision).candidates[name].digest
        skills.save(project, name, routing_skills.bundle(number, " again"), base=base, by=permissions.operator())
        project.refresh_from_db()
        catalog.view(project.pk, project.revision)
        cpu = time.process_time()
        indexes.of(project.pk, project.revision)
        taken.append(1_000 * (time.process_time() - cpu))
    return {"update": sorted(taken)[len(taken) // 2]}


def _latency(questions: Sequence[str], ask: Callable[[str], object]) -> dict[str, float]:
    """Return percentiles of processor time and of elapsed time, in milliseconds."""
    cpu, wall = [], []
    for text in [*questions[:20], *questions]:
        started, used = time.perf_counter(), time.process_time()
        ask(text)
        cpu.append(1_000 * (time.process_time() - used))
        wall.append(1_000 * (time.perf_counter() - started))
    cpu, wall = sorted(cpu[20:]), sorted(wall[20:])
    last = len(cpu) * 99 // 100
    return {"p50": cpu[len(cpu) // 2], "p99": cpu[last], "wall_p50": wall[len(wall) // 2], "wall_p99": wall[last]}


def _fts5(project: Project) -> Callable[[str], object]:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE skills USING fts5(name, description, body, tokenize='porter unicode61')")
    rows = [(name, skill_text.read(name, content).description, content.decode()) for name, content in _texts(project)]
    database.executemany("INSERT INTO skills VALUES (?, ?, ?)", rows)

    def ask(text: str) -> object:
        words = " OR ".join(f'"{word}"' for word in text.split()[:_FTS_WORDS])
        order = "ORDER BY bm25(skills, 3.0, 2.0, 0.4) LIMIT 5"
        return database.execute(f"SELECT name FROM skills WHERE skills MATCH ? {order}", [words]).fetchall()  # noqa: S608

    return ask


def _substring(project: Project) -> Callable[[str], object]:
    texts = [
        (candidate.name, f"{candidate.name} {candidate.description}".lower())
        for candidate in catalog.view(project.pk, project.revision).served
    ]

    def ask(text: str) -> object:
        words = text.lower().split()
        return sorted(((-sum(word in content for word in words), name) for name, content in texts))[:5]

    return ask


def _minilm(project: Project, questions: Sequence[str]) -> dict[str, float] | None:
    """Return the latency of MiniLM, its memory, and the time in which it encodes all skills; None if not installed."""
    before, started = _resident(), time.process_time()
    try:
        ranker = MiniLm()
    except ImportError:
        return None
    ranker.prepare(dict(_texts(project)))
    figures = {"build": time.process_time() - started, "memory": (_resident() - before) / 1e6}
    return figures | _latency(questions, ranker.rank)


def _texts(project: Project) -> Iterator[tuple[str, bytes]]:
    for loaded in catalog.load_many(project.pk, catalog.view(project.pk, project.revision).served):
        yield loaded.name, loaded.read(loaded.entry(SKILL_MD))


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
