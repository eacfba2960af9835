"""Hostile questions, search words and skills for routing."""

from collections.abc import Callable, Iterator
from functools import cache

from registry.core.routing import analysis, question, question_chain, skill_text, spelling, words
from registry.core.routing.index import Index
from registry.core.routing.question import Question
from registry.lib.steps import StepRunner
from tests.costs.shape import KB, Shape, repeated

_QUESTION = 20 * KB
_SKILL = 200 * KB  # only the start of a longer one is read
_runner = StepRunner(2)

_QUESTIONS = (
    "a", "a ", "refund ", "for ", "a,b;", "it's ", "c++ ", ".net", "''", "\u0301", "退款", "환불 ", "🙂", "שלום ", "\0",
)  # fmt: skip
_TEXTS = (
    "not ", "do not ", "don't use ", "prefer ", "for a, ", "for a: see ", "use a or b ", "use a instead ", "(use ",
    "(see a)", '"a', "'a", "“a", "a: ", "a, ", "[a](", "<a", "<!--", "```\n", "# a\n", "- `a`: b\n", "- [a](b)",
    "not for a\n", "a – ", "USE FOR", "WHEN: ", "->a ", "退款，", "a\n", "\n", " ", "- [a](\n",
)  # fmt: skip
_QUICK = {"refund ", "for ", "退款", "(see a)", "<!--", "[a](", "do not ", "(use ", "\n", " ", "- [a](\n"}


@cache
def _index() -> Index:
    names = [f"{first}-{second}" for first in ("refund", "invoice", "pod") for second in ("check", "letter", "report")]
    texts = [skill_text.of_parts(name, "", f"About {name}. 退款", f"# {name}\n\nrefund it now") for name in names]
    return Index.of([analysis.analyse(text) for text in texts])


def _run(asked: Question) -> object:
    return question_chain.run(asked, _index().rows, most=20, runner=_runner, seconds=60.0)


def _ask(text: str) -> object:
    return _run(question.ask(text, _index()))


def _search(text: str) -> object:
    return _run(Question(spelling.widened(words.query(text), _index()), _index()))


def _describe(text: str) -> object:
    return analysis.analyse(skill_text.of_parts("refund", "", text, ""))


def _instruct(text: str) -> object:
    return analysis.analyse(skill_text.of_parts("refund", "", "Refunds.", text))


def _text(unit: str) -> Callable[[int], str]:
    return lambda size: repeated(unit, size)


def _many_words(size: int) -> str:
    return " ".join(f"refnud{number:x}" for number in range(size // 10))


def _shapes() -> Iterator[Shape]:
    for unit in _QUESTIONS:
        yield Shape(f"the question {unit!r}", _text(unit), _ask, _QUESTION, quick=unit in _QUICK)
    for unit in _TEXTS:
        yield Shape(f"a description {unit!r}", _text(unit), _describe, _SKILL, quick=unit in _QUICK)
        yield Shape(f"instructions {unit!r}", _text(unit), _instruct, _SKILL, quick=unit in _QUICK)
    yield Shape("a question of many words", _many_words, _ask, _QUESTION, small=2 * KB, quick=True)
    yield Shape("a search for many words", _many_words, _search, 200, quick=True)


SHAPES = tuple(_shapes())
