"""Sources of the demo project in every state that a page can show, created without a network."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.test import override_settings
from django.utils import timezone

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md
from registry.core.sources import import_request
from registry.core.sources.import_request import ImportRequest
from registry.models import Project, Source, SourceEntry, SourceJob, SourceJobItem
from registry.models.sources import (
    DONE,
    EMPTY,
    GIT,
    IMPORT,
    READY,
    RUNNING,
    UNREACHABLE,
    URL,
    WAITING,
    WELL_KNOWN,
)
from registry.remote.sources import FetchedBundle
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.sources import install, source_entries, sources

_PIN = "9f2c41d7a86be03355e1c0f4b7d29a6e8841fc30"

_GIFTS = """\
# Wrap a gift

1. Take the paper that is two hands wider than the box.
2. Fold the paper twice, the pattern outside.
3. Tie the ribbon with a double knot.

Write the name on the card, not on the paper.
"""
_RETURNS = """\
# Take goods back

1. Ask for the number of the order and what is wrong.
2. Look at the goods together and write down what you see.
3. Pay back the way it was paid.
"""
_LABELS = """\
# Print shipping labels

1. Check the address with `scripts/check.py` before you print.
2. Print in A6, one label a parcel.
3. Stick the label on the largest side, never over an edge.
"""
_TAGS = """\
# Write a price tag

1. The price in figures of 3 cm, the currency behind it and half as high.
2. Below it the price for a kilogram or a litre, 8 mm.
3. The name of the thing in one line. What does not fit is left out.

Tags hang at the left edge of what they belong to. A tag that is older than the price list is taken down at once.
"""

# Name, what it is for and when, and how.
_OFFERED = {
    "gift-wrapping": ("Wrap a gift: paper, ribbon, card. Use when a customer asks for a gift.", _GIFTS),
    "goods-return": ("Take goods back: what to ask, how to pay back. Use when somebody returns.", _RETURNS),
    "meeting-minutes": ("Minutes on one page: decisions, owners, dates. Use after a meeting.", "Decisions first.\n"),
    "parcel-sizes": ("Which parcel for which thing. Use when something is packed.", "Take the smallest that fits.\n"),
    "shelf-labels": ("Price tags that are read from two metres. Use when prices change.", _TAGS),
    "shipping-labels": ("Print labels that carriers can read. Use when parcels go out.", _LABELS),
    "stock-taking": ("Count what is there, twice. Use at the end of a quarter.", "Count from the left.\n"),
    "window-display": ("Dress the window so that people stop. Use when the season changes.", "One thing, large.\n"),
}


@dataclass(frozen=True)
class Places:
    """The keys in the addresses of the pages."""

    source: int
    unreachable: int
    empty: int
    finished: int
    running: int


def fill(project: Project, by: Actor) -> Places:
    """Import skills, edit them and check the source again, while the source changes."""
    hosts = ["git.example.com", "skills.example.org", "files.example.net"]  # no name is looked up for them
    with override_settings(SKILLS_FETCH_ALLOW_HOSTS=hosts):
        source = sources.add(project, GIT, "https://git.example.com/lighthouse/skills.git", label="Lighthouse", by=by)
        closed = sources.add(project, WELL_KNOWN, "https://skills.example.org/retail", by=by)
        bare = sources.add(project, URL, "https://files.example.net/skills/latest.zip", label="Franchise pack", by=by)
    SourceJob.objects.filter(project=project).update(state=DONE, finished_at=timezone.now())
    _looked(closed, UNREACHABLE, problem="No complete response within 30 seconds.", seen_at=None)
    _looked(bare, EMPTY)
    _looked(source, READY, pin=_PIN, problems=["drafts/untitled has no description, which every skill needs."])
    for name in _OFFERED:
        _put(source, name)
    for name in ("gift-wrapping", "goods-return", "shipping-labels"):
        _import(project, source, name, by)
    _edit(project, "gift-wrapping", "a double knot", "a bow", by)
    _put(source, "gift-wrapping", ("a double knot", "a double knot and cut the ends"), ("two hands", "one hand"))
    _put(source, "goods-return", ("the way it was paid", "the way it was paid, within 14 days"))
    return Places(source.pk, closed.pk, bare.pk, _finished(source, by), _running(source, by))


def _looked(source: Source, state: str, **more: object) -> None:
    now = timezone.now() - timedelta(minutes=9)
    values: dict[str, object] = {"state": state, "checked_at": now, "seen_at": now, **more}
    Source.objects.filter(pk=source.pk).update(**values)


def _text(name: str, body: str = "") -> str:
    description, standard = _OFFERED[name]
    return skill_md.compose(name=name, description=description, instructions=body or standard)


def bundle(name: str, *changes: tuple[str, str]) -> Bundle:
    text = _text(name)
    for before, after in changes:
        assert before in text, before
        text = text.replace(before, after)
    files: Mapping[str, bytes] = {"scripts/check.py": b'"""Says whether an address has all its lines."""\n'}
    return Bundle({SKILL_MD: text.encode(), **(files if name == "shipping-labels" else {})})


def _put(source: Source, name: str, *changes: tuple[str, str]) -> None:
    """Add an entry to the source with staged content."""
    made = bundle(name, *changes)
    entry, _ = SourceEntry.objects.update_or_create(
        source=source, name=name,
        defaults={"description": _OFFERED[name][0], "digest": made.digest, "location": f"skills/{name}"},
    )  # fmt: skip
    source_entries.stage(entry, FetchedBundle(made, "", made.digest))


def _import(project: Project, source: Source, name: str, by: Actor) -> None:
    outcome = install.import_skill(project, source.pk, ImportRequest(name, digest=bundle(name).digest), by=by)
    assert outcome.status == import_request.IMPORTED, outcome


def _edit(project: Project, name: str, before: str, after: str, by: Actor) -> None:
    mine = catalog.load(project.pk, name)
    text = mine.bundle()[SKILL_MD].decode()
    assert before in text, before
    edited = mine.bundle().with_changes({SKILL_MD: text.replace(before, after).encode()})
    skills.save(project, name, edited, base=mine.candidate.digest, note="Our customers like bows", by=by)


def _finished(source: Source, by: Actor) -> int:
    """Create a finished import in which two skills failed."""
    now = timezone.now() - timedelta(minutes=4)
    job = SourceJob.objects.create(
        project_id=source.project_id,
        source=source,
        kind=IMPORT,
        state=DONE,
        user_id=by.user_id,
        finished_at=now,
        created_at=now - timedelta(minutes=1),
    )
    _items(job, {
        "gift-wrapping": (import_request.IMPORTED, ""),
        "goods-return": (import_request.IMPORTED, ""),
        "parcel-sizes": (
            import_request.SKIPPED, "The project already has its own skill parcel-sizes. Skipped."),
        "shipping-labels": (import_request.IMPORTED, ""),
        "stock-taking": (
            import_request.FAILED, "We couldn’t fetch this skill. No complete response within 30 seconds."),
    })  # fmt: skip
    return job.pk


def _running(source: Source, by: Actor) -> int:
    job = SourceJob.objects.create(
        project_id=source.project_id, source=source, kind=IMPORT, state=RUNNING, user_id=by.user_id,
        leased_until=timezone.now() + timedelta(days=1),
    )  # fmt: skip
    _items(job, {
        "shelf-labels": (import_request.IMPORTED, ""), "stock-taking": (WAITING, ""), "window-display": (WAITING, ""),
    })  # fmt: skip
    return job.pk


def _items(job: SourceJob, outcomes: Mapping[str, tuple[str, str]]) -> None:
    SourceJobItem.objects.bulk_create(
        SourceJobItem(
            job=job, position=place, name=name, asked=ImportRequest(name).as_json(), status=status, reason=reason,
            skill=name if status == import_request.IMPORTED else "",
            version="1" if status == import_request.IMPORTED else "",
            digest=bundle(name).digest if status == import_request.IMPORTED else "",
        )
        for place, (name, (status, reason)) in enumerate(outcomes.items())
    )  # fmt: skip
