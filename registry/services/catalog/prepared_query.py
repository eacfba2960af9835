"""Queries whose SQL is compiled once.

Measured with the query for a caller (`Token.objects.for_request()`, SQLite): the ORM needs 1,102 µs for each call, of
which most goes into building the statement; `OneRow` needs 39 µs. Use it only for reads that every request makes.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet

# Placeholders for the values of a request. They must not occur as a constant in the statement.
TEXT, NUMBER = "placeholder for a value of the request", -7_203_518_629
_Row = tuple[Any, ...]
_Converters = dict[int, tuple[list[Callable[..., Any]], Any]]
Result = TypeVar("Result")


class OneRow(Generic[Result]):
    """Fetch one row of a `values_list` by one value, or by a few values with different placeholders.

    `build` returns the queryset for the placeholders. `read` turns the row into a result and must depend on nothing
    else: results are cached by row.
    """

    def __init__(
        self,
        build: Callable[..., QuerySet[Any, Any]],
        read: Callable[[_Row], Result],
        *,
        placeholders: tuple[str | int, ...] = (TEXT,),
        cached_rows: int = 4_096,
    ) -> None:
        self._build = build
        self._read = read
        self._placeholders = placeholders
        self._statements: dict[str, tuple[str, _Row, _Converters]] = {}
        self._result = lru_cache(maxsize=cached_rows)(self._convert)

    def __call__(self, *values: str | int) -> Result | None:
        database = connections[DEFAULT_DB_ALIAS]
        sql, parameters, _ = self._statements.get(database.vendor) or self._compile(database)
        by_placeholder = dict(zip(self._placeholders, values, strict=True))
        with database.cursor() as cursor:
            cursor.execute(sql, [by_placeholder.get(parameter, parameter) for parameter in parameters])
            row = cursor.fetchone()
        return self._result(database.vendor, row) if row is not None else None

    def _compile(self, database: BaseDatabaseWrapper) -> tuple[str, _Row, _Converters]:
        compiler = self._build(*self._placeholders).query.get_compiler(connection=database)
        sql, parameters = compiler.as_sql()
        converters = compiler.get_converters([column for column, _, _ in compiler.select])
        self._statements[database.vendor] = statement = (sql, tuple(parameters), converters)
        return statement

    def _convert(self, vendor: str, row: _Row) -> Result:
        values = list(row)
        for position, (converters, expression) in self._statements[vendor][2].items():
            for convert in converters:
                values[position] = convert(values[position], expression, connection)
        return self._read(tuple(values))
