"""Every trace that a write could leave: all rows and all stored files."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from django.apps import apps
from django.core.files.storage import storages
from django.db import connection
from django.db.models import Model

Footprint = dict[str, list[str]]


def footprint() -> Footprint:
    rows: Footprint = {model.__name__: [] for model in _models()}
    with connection.cursor() as cursor:
        cursor.execute(_every_row(connection.vendor))
        for model, row in cursor.fetchall():
            rows[model].append(row)
    return {**{model: sorted(lines) for model, lines in rows.items()}, "stored files": stored_files()}


@cache
def _models() -> list[type[Model]]:
    return list(apps.get_app_config("registry").get_models())


@cache
def _every_row(vendor: str) -> str:
    """Return one query for the rows of all tables as text, because hundreds of tests ask for them twice."""
    quote = connection.ops.quote_name
    parts = []
    for model in _models():
        columns = [f"quote({quote(field.column)})" for field in model._meta.concrete_fields]
        row = " || ',' || ".join(columns) if vendor == "sqlite" else "t::text"
        parts.append(f"SELECT '{model.__name__}', {row} FROM {quote(model._meta.db_table)} AS t")  # noqa: S608 - our names
    return " UNION ALL ".join(parts)


def stored_files() -> list[str]:
    root = Path(storages["blobs"].location)  # type: ignore[attr-defined]
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    before = footprint()
    yield
    after = footprint()
    assert {name: rows for name, rows in after.items() if rows != before[name]} == {}
