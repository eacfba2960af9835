"""Queries whose SQL is made once: for reads so frequent that building the statement would cost more than running it."""

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.models import QuerySet

_VALUE = "the value of one request stands here"
_Converters = dict[int, tuple[list[Callable[..., Any]], Any]]


class OneRow:
    """One row of `values_list`, found by one value. `build` gives the queryset for that value, as any other is written.

    The statement and what turns its columns into Python are kept for each kind of database.
    """

    def __init__(self, build: Callable[[str], QuerySet[Any, Any]]) -> None:
        self._build = build
        self._kept: dict[str, tuple[str, tuple[Any, ...], _Converters]] = {}

    def __call__(self, value: str) -> tuple[Any, ...] | None:
        sql, parameters, converters = self._kept.get(connection.vendor) or self._compile()
        with connection.cursor() as cursor:
            cursor.execute(sql, [value if one == _VALUE else one for one in parameters])
            found = cursor.fetchone()
        if found is None:
            return None
        row = list(found)
        for place, (converts, expression) in converters.items():
            for convert in converts:
                row[place] = convert(row[place], expression, connection)
        return tuple(row)

    def _compile(self) -> tuple[str, tuple[Any, ...], _Converters]:
        compiler = self._build(_VALUE).query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        converters = compiler.get_converters([column for column, _, _ in compiler.select])
        self._kept[connection.vendor] = made = (sql, tuple(parameters), converters)
        return made
