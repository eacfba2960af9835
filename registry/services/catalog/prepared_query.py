"""Queries whose SQL is made once: for reads so frequent that building the statement would cost more than running it."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet

# What stands in the statement where the values of one request go, by what they are.
TEXT, NUMBER = "the value of one request stands here", -7_203_518_629
_Row = tuple[Any, ...]
_Converters = dict[int, tuple[list[Callable[..., Any]], Any]]
Read = TypeVar("Read")


class OneRow(Generic[Read]):
    """One row of a `values_list`, found by one value or a few of different kinds.

    `build` gives the queryset for these values, as any other is written. `read` makes something of the row and nothing
    else, so that what was made of a row is good for as long as the database gives the same row again.
    """

    def __init__(
        self,
        build: Callable[..., QuerySet[Any, Any]],
        read: Callable[[_Row], Read],
        *,
        asked: tuple[str | int, ...] = (TEXT,),
        kept: int = 4_096,
    ) -> None:
        self._build = build
        self._read = read
        self._asked = asked
        self._statements: dict[str, tuple[str, _Row, _Converters]] = {}
        self._understand = lru_cache(maxsize=kept)(self._convert)

    def __call__(self, *values: str | int) -> Read | None:
        database = connections[DEFAULT_DB_ALIAS]
        sql, parameters, _ = self._statements.get(database.vendor) or self._compile(database)
        given = dict(zip(self._asked, values, strict=True))
        with database.cursor() as cursor:
            cursor.execute(sql, [given.get(one, one) for one in parameters])
            row = cursor.fetchone()
        return self._understand(database.vendor, row) if row is not None else None

    def _compile(self, database: BaseDatabaseWrapper) -> tuple[str, _Row, _Converters]:
        compiler = self._build(*self._asked).query.get_compiler(connection=database)
        sql, parameters = compiler.as_sql()
        converters = compiler.get_converters([column for column, _, _ in compiler.select])
        self._statements[database.vendor] = made = (sql, tuple(parameters), converters)
        return made

    def _convert(self, vendor: str, row: _Row) -> Read:
        values = list(row)
        for place, (converts, expression) in self._statements[vendor][2].items():
            for convert in converts:
                values[place] = convert(values[place], expression, connection)
        return self._read(tuple(values))
