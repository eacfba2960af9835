"""Queries whose SQL is made once: for reads so frequent that building the statement would cost more than running it."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet

_VALUE = "the value of one request stands here"
_Row = tuple[Any, ...]
_Converters = dict[int, tuple[list[Callable[..., Any]], Any]]
Read = TypeVar("Read")


class OneRow(Generic[Read]):
    """One row of a `values_list`, found by one value.

    `build` gives the queryset for that value, as any other is written. `read` makes something of the row and nothing
    else, so that what was made of a row is good for as long as the database gives the same row again.
    """

    def __init__(self, build: Callable[[str], QuerySet[Any, Any]], read: Callable[[_Row], Read]) -> None:
        self._build = build
        self._read = read
        self._kept: dict[str, tuple[str, _Row, _Converters]] = {}
        self._understand = lru_cache(maxsize=4_096)(self._convert)

    def __call__(self, value: str) -> Read | None:
        database = connections[DEFAULT_DB_ALIAS]
        sql, parameters, _ = self._kept.get(database.vendor) or self._compile(database)
        with database.cursor() as cursor:
            cursor.execute(sql, [value if one == _VALUE else one for one in parameters])
            row = cursor.fetchone()
        return self._understand(database.vendor, row) if row is not None else None

    def _compile(self, database: BaseDatabaseWrapper) -> tuple[str, _Row, _Converters]:
        compiler = self._build(_VALUE).query.get_compiler(connection=database)
        sql, parameters = compiler.as_sql()
        converters = compiler.get_converters([column for column, _, _ in compiler.select])
        self._kept[database.vendor] = made = (sql, tuple(parameters), converters)
        return made

    def _convert(self, vendor: str, row: _Row) -> Read:
        values = list(row)
        for place, (converts, expression) in self._kept[vendor][2].items():
            for convert in converts:
                values[place] = convert(values[place], expression, connection)
        return self._read(tuple(values))
