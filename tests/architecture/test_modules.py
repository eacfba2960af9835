"""What every module has in common, so that any of them can be opened and understood."""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
MOST_LINES = 400


def modules(*directories: str) -> list[Path]:
    found = [path for directory in directories for path in sorted((ROOT / directory).rglob("*.py"))]
    return [path for path in found if not {"migrations", "library", "__pycache__"} & set(path.parts)]


OURS = modules("registry", "skillsite")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def faults(paths: list[Path], check: Callable[[ast.Module], Iterator[int]]) -> list[str]:
    """`module:line` wherever the check finds something."""
    assert paths
    return [f"{path.relative_to(ROOT).as_posix()}:{line}" for path in paths for line in check(tree(path))]


def test_every_module_opens_with_a_sentence_that_says_what_it_is_for() -> None:
    def check(module: ast.Module) -> Iterator[int]:
        said = ast.get_docstring(module)
        if module.body and not (said and said.splitlines()[0].endswith((".", ":"))):
            yield 1

    assert faults([*OURS, *modules("tests", "bench")], check) == []


def test_every_module_is_short_enough_to_read() -> None:
    long = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in OURS}
    assert {name: lines for name, lines in long.items() if lines > MOST_LINES} == {}


def test_nothing_prints_but_the_command_of_the_client() -> None:
    """Services log, and management commands write to the stream they are given."""

    def check(module: ast.Module) -> Iterator[int]:
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                yield node.lineno

    assert faults([path for path in OURS if "client" not in path.parts], check) == []


def test_only_web_spells_out_addresses_of_pages() -> None:
    """Other layers ask for an address by the name of its route, so that it is written once."""
    start = ("/projects/", "/account/", "/inbox/", "/sign-in/", "/invitation/")

    def check(module: ast.Module) -> Iterator[int]:
        for node in ast.walk(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(start):
                yield node.lineno

    assert faults(modules("registry/core", "registry/models", "registry/services"), check) == []


def test_core_asks_no_clock_opens_no_door_and_throws_no_dice() -> None:
    forbidden = {"time", "random", "secrets", "os", "socket", "subprocess", "threading", "logging", "tempfile"}

    def check(module: ast.Module) -> Iterator[int]:
        for node in ast.walk(module):
            if isinstance(node, ast.Import):
                named = {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                named = {(node.module or "").partition(".")[0]}
            else:
                named = {"time"} if isinstance(node, ast.Attribute) and node.attr in {"now", "today"} else set()
            if named & forbidden:
                yield node.lineno  # type: ignore[attr-defined]

    assert faults(modules("registry/core"), check) == []


def test_rows_have_no_hidden_behaviour() -> None:
    """No signals, no `save` of their own, no ordering that a query does not ask for."""

    def check(module: ast.Module) -> Iterator[int]:
        for node in ast.walk(module):
            own_save = isinstance(node, ast.FunctionDef) and node.name == "save"
            ordering = isinstance(node, ast.Assign) and "ordering" in map(ast.unparse, node.targets)
            signals = isinstance(node, ast.ImportFrom) and "signals" in (node.module or "")
            if own_save or ordering or signals:
                yield node.lineno  # type: ignore[attr-defined]

    assert faults(modules("registry/models"), check) == []


def test_faces_never_write_a_row() -> None:
    """Whatever changes something is a verb of a service: a face that writes goes past permission and audit."""
    writing = {"create", "bulk_create", "update_or_create", "get_or_create", "bulk_update", "update", "delete"}

    def check(module: ast.Module) -> Iterator[int]:
        for node in ast.walk(module):
            call = node.func if isinstance(node, ast.Call) else None
            if isinstance(call, ast.Attribute) and call.attr in writing and "objects" in ast.unparse(call.value):
                yield call.lineno

    assert faults(modules("registry/web", "registry/api"), check) == []
