"""Rules for all modules."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.modules import OURS, ROOT, definitions, faults, modules

MOST_LINES, MOST_TEST_LINES, MOST_FUNCTION_LINES = 330, 400, 45


def test_every_module_has_a_docstring() -> None:
    def check(module: ast.Module) -> Iterator[int]:
        docstring = ast.get_docstring(module)
        if module.body and not (docstring and docstring.splitlines()[0].endswith((".", ":"))):
            yield 1

    good = r'\A"""[^"\\\n]+[.:](\n|""")'
    assert faults([*OURS, *modules("tests", "bench")], check, within=rf"\A(?!{good})") == []


@pytest.mark.parametrize(("paths", "most"), [(OURS, MOST_LINES), (modules("tests", "bench"), MOST_TEST_LINES)])
def test_no_module_is_too_long(paths: list[Path], most: int) -> None:
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in paths}
    assert {name: lines for name, lines in lengths.items() if lines > most} == {}


def test_no_function_is_too_long() -> None:
    def check(module: ast.Module) -> Iterator[int]:
        for node in definitions(module):
            if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= MOST_FUNCTION_LINES:
                yield node.lineno

    assert faults(OURS, check) == []


def test_only_the_client_uses_print() -> None:
    """Services log, and management commands write to their `stdout`."""

    def check(module: ast.Module) -> Iterator[int]:
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                yield node.lineno

    assert faults([path for path in OURS if "client" not in path.parts], check, within=r"\bprint\b") == []


def test_only_web_contains_paths_of_pages() -> None:
    """Other layers use the name of a route, so that each path is written once."""
    start = ("/projects/", "/account/", "/inbox/", "/sign-in/", "/invitation/")

    def check(module: ast.Module) -> Iterator[int]:
        for node in ast.walk(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(start):
                yield node.lineno

    assert faults(modules("registry/core", "registry/models", "registry/services"), check, within="|".join(start)) == []


def test_core_uses_no_clock_no_io_and_no_randomness() -> None:
    forbidden = {"time", "random", "secrets", "os", "socket", "subprocess", "threading", "logging", "tempfile"}

    def check(module: ast.Module) -> Iterator[int]:
        for node in ast.walk(module):
            if isinstance(node, ast.Import):
                named = {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                named = {(node.module or "").partition(".")[0]}
            else:
                # `context.now` is a clock that the caller gives.
                clock = isinstance(node, ast.Attribute) and node.attr in {"now", "today"}
                named = {"time"} if clock and ast.unparse(node) != "context.now" else set()
            if named & forbidden:
                yield node.lineno  # type: ignore[attr-defined]

    assert faults(modules("registry/core"), check) == []


def test_models_have_no_hidden_behaviour() -> None:
    """Models have no signals, no `save` method and no default ordering."""

    def check(module: ast.Module) -> Iterator[int]:
        for node in ast.walk(module):
            own_save = isinstance(node, ast.FunctionDef) and node.name == "save"
            ordering = isinstance(node, ast.Assign) and "ordering" in map(ast.unparse, node.targets)
            signals = isinstance(node, ast.ImportFrom) and "signals" in (node.module or "")
            if own_save or ordering or signals:
                yield node.lineno  # type: ignore[attr-defined]

    assert faults(modules("registry/models"), check) == []


def test_pages_and_api_never_write_rows() -> None:
    """Only services change rows, because they check permissions and record audit events."""
    writing = {"create", "bulk_create", "update_or_create", "get_or_create", "bulk_update", "update", "delete"}

    def check(module: ast.Module) -> Iterator[int]:
        for node in ast.walk(module):
            call = node.func if isinstance(node, ast.Call) else None
            if isinstance(call, ast.Attribute) and call.attr in writing and "objects" in ast.unparse(call.value):
                yield call.lineno

    assert faults(modules("registry/web", "registry/api"), check, within="objects") == []


def test_no_module_imports_from_a_test_module() -> None:
    """Fixtures live in a conftest, and other helpers in a module that is not a test."""

    def check(module: ast.Module) -> Iterator[int]:
        for node in ast.walk(module):
            if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2].startswith("test_"):
                yield node.lineno

    assert faults(modules("tests", "bench"), check, within=r"from \S*\btest_") == []


def test_only_one_module_measures_cpu_time() -> None:
    """A test that compares a duration with a bound fails on a busy machine. `tests.cpu` does not."""
    clock = re.compile(r"\b(?:process_time|perf_counter|thread_time)\b")
    found = {path.relative_to(ROOT).as_posix() for path in modules("tests") if clock.search(path.read_text())}
    assert found == {"tests/cpu.py", "tests/architecture/test_cpu.py", "tests/architecture/test_modules.py"}
