"""Rows of fixtures: the services create them once, and later tests of the same process insert copies.

A service takes milliseconds for rows that a few INSERT statements store in a fraction of one. Tests stay independent:
the copies belong to the transaction of one test and disappear with it.

A remembered function depends on its arguments, on rows, settings and the built-in skills alone, and it changes only
rows and blobs. It runs as usual after any other write, in tests that commit, and after a test patched code.
"""

import functools
import pickle
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import pytest
from django.apps import apps
from django.conf import UserSettingsHolder, settings
from django.core.files.storage import FileSystemStorage, storages
from django.db import connection
from django.db.models import Model
from django.db.models.sql import InsertQuery

from tests.directories import read_files

P = ParamSpec("P")
T = TypeVar("T")
Calls = tuple[Hashable, ...]
Rows = dict[type[Model], set[tuple[Any, ...]]]

_READ_ONLY = ("BEGIN", "SELECT", "SAVEPOINT", "RELEASE", "PRAGMA", "EXPLAIN")


@dataclass(frozen=True)
class _Effects:
    """The effects of one call in a known state of the database."""

    statements: list[tuple[str, Any]]
    files: dict[str, bytes]
    result: bytes


class _Memory:
    """Effects of calls, under the calls since the test began.

    Most calls happen once, so only the second one is recorded.
    """

    def __init__(self) -> None:
        self.effects: dict[Calls, _Effects | None] = {}
        self.present: Calls | None = None  # the calls that created the present rows, None if others wrote as well
        self.patches: list[Any] = []
        self.patches_before = 0  # those of pytest-django

    @property
    def usable(self) -> bool:
        unpatched = len(self.patches) == self.patches_before
        return self.present is not None and unpatched and connection.in_atomic_block


_memory = _Memory()


def start_test(patches: pytest.MonkeyPatch) -> None:
    """Begin with an empty database and no patches of the test."""
    _memory.present = ()
    _memory.patches = patches._setattr
    _memory.patches_before = len(patches._setattr)


@contextmanager
def watch_writes() -> Iterator[None]:
    """Notice each statement that may write."""

    def watch(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if _memory.present is not None and not sql.startswith(_READ_ONLY):
            _memory.present = None
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch):
        yield


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """Replace repeated calls in the same state of the database with copies of the rows, the blobs and the result."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        blobs = storages["blobs"]
        if not _memory.usable or not isinstance(blobs, FileSystemStorage):
            return function(*args, **kwargs)
        named = (function.__module__, function.__qualname__, *map(_identity, args), *_named(kwargs))
        after, root = (*(_memory.present or ()), (_library(), _changed_settings(), *named)), Path(blobs.location)
        if effects := _memory.effects.get(after):
            return cast(T, _repeat(effects, after, root))
        result = _record(after, lambda: function(*args, **kwargs), root)
        _memory.present = after
        return result

    return call


def _library() -> Hashable:
    """Return the built-in skills, because services compare with them."""
    return tuple(frozenset(read_files(Path(directory)).items()) for directory in settings.AGENT_SKILLS_DIRS)


def _changed_settings() -> Hashable:
    """Return the settings that the test overrides, except those that only name its own directories."""
    found, holder = [], settings._wrapped
    while isinstance(holder, UserSettingsHolder):
        changed = sorted(holder.__dict__.keys() - {"STORAGES", "AGENT_SKILLS_DIRS", "default_settings", "_deleted"})
        found.append(tuple((name, repr(holder.__dict__[name])) for name in changed if name.isupper()))
        holder = holder.default_settings
    return tuple(filter(None, found))


def _named(kwargs: dict[str, Any]) -> Iterator[Hashable]:
    return ((name, _identity(value)) for name, value in sorted(kwargs.items()))


def _identity(value: Any) -> Hashable:
    if isinstance(value, Model):
        return type(value), value.pk
    if isinstance(value, Path) or callable(value):
        return type(value)  # a directory or a fixture function of this test: no row depends on it
    try:
        hash(value)
    except TypeError:
        return pickle.dumps(value)
    return cast(Hashable, value)


def _record(after: Calls, call: Callable[[], T], root: Path) -> T:
    _memory.present = None
    if after not in _memory.effects:
        _memory.effects[after] = None
        return call()
    files, rows = read_files(root), _rows()
    result = call()
    _memory.effects[after] = _Effects(
        statements=_statements(rows, _rows()),
        files={name: content for name, content in read_files(root).items() if name not in files},
        result=pickle.dumps(result),
    )
    return result


def _repeat(effects: _Effects, after: Calls, root: Path) -> Any:
    for name, content in effects.files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    with connection.cursor() as cursor:
        for statement, parameters in effects.statements:
            cursor.execute(statement, parameters)
    _memory.present = after
    return pickle.loads(effects.result)  # noqa: S301 - these bytes were created in this process


def _rows() -> Rows:
    """Return the rows of all tables as the database gives them, with the key first."""
    found: Rows = {}
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            table, key = map(connection.ops.quote_name, (model._meta.db_table, model._meta.pk.column))
            cursor.execute(f"SELECT {key}, * FROM {table}")  # noqa: S608 - names of our tables
            found[model] = {(row[0], repr(row)) for row in cursor.fetchall()}
    return found


def _statements(before: Rows, after: Rows) -> list[tuple[str, Any]]:
    """Return statements that turn the first rows into the second. Foreign keys are checked at the end of a test."""
    deletions, insertions = [], []
    for model in after:
        if gone := [key for key, _ in before[model] - after[model]]:
            deletions.append(_deletion(model, gone))
        if new := [key for key, _ in after[model] - before[model]]:
            insertions.append(_insertion(model, new))
    return [*deletions, *insertions]


def _deletion(model: type[Model], keys: list[Any]) -> tuple[str, Any]:
    table, key = map(connection.ops.quote_name, (model._meta.db_table, model._meta.pk.column))
    return f"DELETE FROM {table} WHERE {key} IN ({', '.join(['%s'] * len(keys))})", keys  # noqa: S608


def _insertion(model: type[Model], keys: list[Any]) -> tuple[str, Any]:
    query = InsertQuery(model)
    rows = list(model._base_manager.filter(pk__in=keys).order_by("pk"))
    query.insert_values(model._meta.local_concrete_fields, rows, raw=True)
    [(statement, parameters)] = query.get_compiler(connection=connection).as_sql()
    return statement, parameters
