"""Source code of the Python client, as the package `skillsite_client`.

In this repository the client is `registry.client` and shares modules with the site. Other people's environments get one
package only: `registry.client` becomes `skillsite_client`, and the modules that it imports from `registry.core`,
`registry.lib` and `registry.remote` become `skillsite_client._core`, `skillsite_client._lib` and
`skillsite_client._remote`.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

PACKAGE = "skillsite_client"
_SITE = "registry"


@dataclass(frozen=True, slots=True)
class _Import:
    """A statement `from registry.… import …`; `column` is where the module's name starts, in bytes."""

    line: int
    column: int
    module: str
    names: tuple[str, ...]


def files(root: Path) -> dict[str, bytes]:
    """Return the modules of the package by path; `root` is the directory of `registry`.

    Contains every module of the client, and the modules of the site that they import, transitively.
    """
    found: dict[str, bytes] = {}
    waiting = [_module(path, root) for path in (root / "client").rglob("*.py")]
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        path = _path(name, root)
        if path is None:  # a class or a function, or a directory without __init__.py
            continue
        source = path.read_bytes()
        imports = list(_imports(source, path))
        found[_target(name, path)] = _renamed(source, imports)
        needed = {needed for each in imports for needed in _modules_of(each)} - seen
        waiting += needed
        seen |= needed
    return dict(sorted(found.items()))


def _imports(source: bytes, path: Path) -> Iterator[_Import]:
    """Yield the imports of modules of the site. Raise ValueError for one in a form that cannot be renamed."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not _names_site(node):
            continue
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            column = node.col_offset + len("from ")
            if lines[node.lineno - 1][column:].startswith(f"{node.module} import".encode()) and "." in node.module:
                yield _Import(node.lineno - 1, column, node.module, tuple(alias.name for alias in node.names))
                continue
        raise ValueError(f"{path}:{node.lineno}: the package of the client needs `from registry.package import name`.")


def _names_site(node: ast.AST) -> TypeGuard[ast.Import | ast.ImportFrom]:
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] == _SITE for alias in node.names)
    return isinstance(node, ast.ImportFrom) and (node.level > 0 or (node.module or "").partition(".")[0] == _SITE)


def _renamed(source: bytes, imports: list[_Import]) -> bytes:
    lines = source.splitlines(keepends=True)
    for each in imports:
        before, after = lines[each.line][: each.column], lines[each.line][each.column + len(each.module) :]
        lines[each.line] = before + _new_name(each.module).encode() + after
    return b"".join(lines)


def _new_name(module: str) -> str:
    _, layer, *rest = module.split(".")
    return ".".join([PACKAGE, *([] if layer == "client" else [f"_{layer}"]), *rest])


def _modules_of(statement: _Import) -> Iterator[str]:
    """Yield the names that may be modules: the one imported from, its parents, and what is imported."""
    parts = statement.module.split(".")
    yield from (".".join(parts[:end]) for end in range(2, len(parts) + 1))
    yield from (f"{statement.module}.{name}" for name in statement.names)


def _module(path: Path, root: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _path(module: str, root: Path) -> Path | None:
    base = root.joinpath(*module.split(".")[1:])
    return next((path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()), None)


def _target(module: str, path: Path) -> str:
    place = _new_name(module).replace(".", "/")
    return f"{place}/__init__.py" if path.name == "__init__.py" else f"{place}.py"
