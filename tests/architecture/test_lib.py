"""The package registry.lib imports only the standard library and itself."""

import ast
import sys
from pathlib import Path

LIB = Path(__file__).parents[2] / "registry" / "lib"


def _imported(module: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def test_lib_imports_only_the_standard_library_and_itself() -> None:
    modules = sorted(LIB.rglob("*.py"))
    assert modules
    foreign = {
        (module.name, name)
        for module in modules
        for name in _imported(module)
        if name.partition(".")[0] not in sys.stdlib_module_names and not name.startswith("registry.lib")
    }
    assert foreign == set()
