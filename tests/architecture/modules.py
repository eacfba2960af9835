"""The modules that the architecture tests read."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)


def modules(*directories: str) -> list[Path]:
    paths = [path for directory in directories for path in sorted((ROOT / directory).rglob("*.py"))]
    return [path for path in paths if not {"migrations", "__pycache__"} & set(path.parts)]


SCRIPTS_OF_SKILLS = modules("registry/library")
OURS = [path for path in modules("registry", "skillsite") if path not in SCRIPTS_OF_SKILLS]


def definitions(node: ast.AST) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    """Yield all classes and functions. Skips expressions, which are most of a tree."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield child
        if isinstance(child, ast.stmt | ast.ExceptHandler):
            yield from definitions(child)


def faults(paths: list[Path], check: Callable[[ast.Module], Iterator[int]], *, within: str = "") -> list[str]:
    """Return `module:line` for each line that the check yields.

    `within` is a regular expression. A module that it does not match is not parsed, because it cannot have a fault.
    """
    assert paths
    suspects = [path for path in paths if re.search(within, path.read_text())]
    return [
        f"{path.relative_to(ROOT).as_posix()}:{line}"
        for path in suspects
        for line in check(ast.parse(path.read_text()))
    ]
