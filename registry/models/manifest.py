"""The model field for the files of a bundle."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Expression

from registry.core.bundle import FileEntry

if TYPE_CHECKING:
    _JSONField = models.JSONField[Iterable[FileEntry], tuple[FileEntry, ...]]
else:
    _JSONField = models.JSONField


class ManifestField(_JSONField):
    """A tuple of `FileEntry`, stored as JSON rows `[path, size, digest]`."""

    _default_hint = ("tuple", "()")

    def from_db_value(self, value: str | None, expression: Expression, connection: BaseDatabaseWrapper) -> Any:
        rows = super().from_db_value(value, expression, connection)
        return None if rows is None else tuple(FileEntry(*row) for row in rows)

    def get_prep_value(self, value: Iterable[FileEntry]) -> Any:
        rows = [[entry.path, entry.size, entry.digest] for entry in value]
        return super().get_prep_value(rows)
