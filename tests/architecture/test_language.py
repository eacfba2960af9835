"""Docstrings and screens follow the language rules in CONTRIBUTING.md."""

import ast
import re
from collections.abc import Iterator

from tests.architecture.modules import OURS, ROOT, SCRIPTS_OF_SKILLS, definitions, faults, modules

QUESTION_WORDS = {"What", "Whatever", "Where", "Whether", "Who", "Whoever", "Whose", "Those", "How", "Of"}
# Words of an older vocabulary, and phrases that nobody would say to a colleague.
BANNED_ON_SCREEN = (
    "be had", "brought over", "bring it over", "bundled", "checked by nobody", "come in", "comes in", "goods",
    "is said", "is told", "nothing was stored", "opens nothing", "overtaken", "stands here", "user name", "whoever",
)  # fmt: skip
_MARKUP = re.compile(r"{% comment %}.*?{% endcomment %}|{#.*?#}|{%.*?%}|{{.*?}}|<[^>]*>", re.DOTALL)
_STRAIGHT_APOSTROPHE = re.compile(r"[a-z]'[a-z]")
# Text for models, and patterns that match the text of others.
_NOT_FOR_SCREENS = {"registry/core/catalog/prompt.py", "registry/core/scan/order_words.py"}
EVERY_MODULE = [*OURS, *SCRIPTS_OF_SKILLS, *modules("tests", "bench")]


def test_no_docstring_starts_with_a_question_word() -> None:
    """A docstring starts with a verb, or with a noun phrase for a module or a class."""

    def check(module: ast.Module) -> Iterator[int]:
        for node in (module, *definitions(module)):
            docstring = ast.get_docstring(node)
            if docstring and docstring.split()[0].rstrip(",.:") in QUESTION_WORDS:
                yield node.body[0].lineno

    assert faults(EVERY_MODULE, check, within=rf"[\"']\s*(?:{'|'.join(QUESTION_WORDS)})\b") == []


def test_no_template_uses_a_banned_phrase() -> None:
    banned = re.compile(rf"\b(?:{'|'.join(BANNED_ON_SCREEN)})\b", re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT).as_posix()}: {phrase}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for phrase in banned.findall(_MARKUP.sub(" ", path.read_text()))
    ]
    assert found == []


def strings(module: ast.Module) -> Iterator[ast.Constant]:
    """Yield the string literals of a module, without its docstrings."""
    standalone = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in standalone:
            yield node


def test_messages_have_typographic_apostrophes() -> None:
    """Descriptions of the API and help of commands are plain ASCII, so only these layers are checked."""
    paths = [
        path
        for path in modules("registry/core", "registry/services", "registry/web")
        if path.relative_to(ROOT).as_posix() not in _NOT_FOR_SCREENS
    ]

    def check(module: ast.Module) -> Iterator[int]:
        yield from (node.lineno for node in strings(module) if _STRAIGHT_APOSTROPHE.search(str(node.value)))

    assert faults(paths, check, within=_STRAIGHT_APOSTROPHE.pattern) == []


def test_templates_have_typographic_apostrophes() -> None:
    found = [
        f"{path.relative_to(ROOT).as_posix()}: {match}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for match in _STRAIGHT_APOSTROPHE.findall(_MARKUP.sub(" ", path.read_text()))
    ]
    assert found == []
