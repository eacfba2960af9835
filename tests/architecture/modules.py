"""The modules that the architecture tests read."""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)


def modules(*directories: str) -> list[Path]:
    paths = [path for directory in directories for path in sorted((ROOT / directory).rglob("*.py"))]
    return [path for path in paths if not {"migrations", "library", "__pycache__"} & set(path.parts)]


OURS = modules("registry", "skillsite")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def faults(paths: list[Path], check: Callable[[ast.Module], Iterator[int]]) -> list[str]:
    """Return `module:line` for each line that the check yields."""
    assert paths
    return [f"{path.relative_to(ROOT).as_posix()}:{line}" for path in paths for line in check(tree(path))]
