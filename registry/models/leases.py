"""Leases: one worker at a time works on a row, and loses the row if it does not finish in time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import models, transaction
from django.db.models import Q


def is_free(now: datetime) -> Q:
    """Match rows that no worker holds, or whose lease has expired."""
    return Q(leased_until=None) | Q(leased_until__lte=now)


class Leased(models.Model):
    """A row that a worker leases before it works on it.

    `leased_until` identifies the holder: a row is leased again only after the lease has expired, so no two holders have
    the same value. `attempts` counts the leases.
    """

    attempts = models.PositiveSmallIntegerField(default=0)
    leased_until = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def take_lease(self, *due: Q, now: datetime, lease: timedelta, **values: object) -> bool:
        """Lease the row and set `values`, if it still matches `due` and no worker took it since it was read."""
        unchanged = type(self)._default_manager.filter(
            *due, is_free(now), pk=self.pk, attempts=self.attempts, leased_until=self.leased_until
        )
        return self._update(unchanged, attempts=self.attempts + 1, leased_until=now + lease, **values)

    def update_if_held(self, **values: object) -> bool:
        """Set `values` if this worker still holds the lease. `leased_until=None` ends the lease."""
        if self.leased_until is None:
            return False
        held = type(self)._default_manager.filter(pk=self.pk, leased_until=self.leased_until)
        return self._update(held, **values)

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """Open a transaction. A rollback also restores the fields of this object, so that the lease is still held."""
        before = {field.attname: getattr(self, field.attname) for field in self._meta.concrete_fields}
        try:
            with transaction.atomic():
                yield
        except BaseException:
            self._set(before)
            raise

    def _update(self, row: models.QuerySet[models.Model], **values: object) -> bool:
        if not row.update(**values):
            return False
        self._set(values)
        return True

    def _set(self, values: Mapping[str, object]) -> None:
        for name, value in values.items():
            setattr(self, name, value)
