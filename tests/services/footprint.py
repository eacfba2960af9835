"""All that a write could leave behind: every row, every stored file, every revision, every event."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.apps import apps
from django.core.files.storage import storages
from django.db import connection

Footprint = dict[str, list[str]]


def footprint() -> Footprint:
    models = apps.get_app_config("registry").get_models()
    rows = {model.__name__: _rows(model._meta.db_table) for model in models}
    return {**rows, "stored files": stored_files()}


def _rows(table: str) -> list[str]:
    """As the database gives them: this is asked before and after hundreds of refusals, and models would take longer."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - the name of a table of ours
        return sorted(map(repr, cursor.fetchall()))


def stored_files() -> list[str]:
    root = Path(storages["blobs"].location)  # type: ignore[attr-defined]
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    before = footprint()
    yield
    after = footprint()
    assert {name: rows for name, rows in after.items() if rows != before[name]} == {}
