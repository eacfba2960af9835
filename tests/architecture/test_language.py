"""Docstrings follow the language rules in CONTRIBUTING.md."""

import ast
from pathlib import Path

from tests.architecture.modules import OURS, ROOT, modules, tree

QUESTION_WORDS = {"What", "Whatever", "Where", "Whether", "Who", "Whoever", "Whose", "Those", "How", "Of"}
EVERY_MODULE = [*OURS, *modules("tests", "bench")]


def docstrings(path: Path) -> list[str]:
    nodes = (node for node in ast.walk(tree(path)) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))
    return [docstring for node in nodes if (docstring := ast.get_docstring(node))]


def test_no_docstring_starts_with_a_question_word() -> None:
    """A docstring starts with a verb, or with a noun phrase for a module or a class."""
    found = [
        f"{path.relative_to(ROOT).as_posix()}: {docstring.splitlines()[0]}"
        for path in EVERY_MODULE
        for docstring in docstrings(path)
        if docstring.split()[0].rstrip(",.:") in QUESTION_WORDS
    ]
    assert found == []
