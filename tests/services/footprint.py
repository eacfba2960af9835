"""All that a write could leave behind: every row, every stored file, every revision, every event."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.apps import apps
from django.core.files.storage import storages

Footprint = dict[str, list[str]]


def footprint() -> Footprint:
    models = apps.get_app_config("registry").get_models()
    rows = {model.__name__: sorted(map(repr, model._default_manager.values_list())) for model in models}
    return {**rows, "stored files": stored_files()}


def stored_files() -> list[str]:
    root = Path(storages["blobs"].location)  # type: ignore[attr-defined]
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    before = footprint()
    yield
    after = footprint()
    assert {name: rows for name, rows in after.items() if rows != before[name]} == {}
