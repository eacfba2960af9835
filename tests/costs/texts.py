"""Hostile texts for diffs, patches, merges, lint and the frontmatter."""

from collections.abc import Callable, Mapping
from itertools import chain

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog import token_estimate
from registry.core.errors import SkillsiteError
from registry.core.format import edit_lines, frontmatter, skill_md
from registry.core.limits import DEFAULT
from registry.core.lint import rules
from registry.core.proposals import assessment, capabilities
from registry.core.text import merge_bundles, patch
from registry.web.render import comparison, marked_text
from tests.costs.shape import KB, MB, Shape, repeated

_HEAD = "---\nname: costs\ndescription: d\n---\n"
_FILE = 120 * KB  # below the size of texts that lint reads

Sides = tuple[Mapping[str, bytes], Mapping[str, bytes]]


def _bundle(text: str, suffix: str = ".md") -> Bundle:
    """Return a skill with this text in files that lint reads."""
    parts = {f"references/{start:09}{suffix}": text[start : start + _FILE] for start in range(0, len(text), _FILE)}
    return Bundle({SKILL_MD: (_HEAD + "\nText.\n").encode(), **{path: part.encode() for path, part in parts.items()}})


def _lint(bundle: Bundle) -> object:
    return rules.lint(skill_md.read(bundle[SKILL_MD], fallback_name="costs"), bundle, authoring=True)


def _assess(bundle: Bundle) -> object:
    return assessment.assess(None, bundle, name="costs")


def _compare(sides: Sides) -> object:
    return comparison.compare(*sides, limits=DEFAULT)


def _compare_whole(sides: Sides) -> object:
    return comparison.compare(*sides, limits=DEFAULT, whole=True)


def _files(text: str, part: int = 500 * KB) -> dict[str, bytes]:
    return {f"{start:09}.md": text[start : start + part].encode() for start in range(0, len(text), part)}


def _blank(size: int) -> Sides:
    return {}, _files("\n" * size)


def _blank_changed(size: int) -> Sides:
    return _files("\n" * size), _files("\n" * (size - 1) + "a")


def _two_lines(size: int) -> Sides:
    return _files(repeated("a\nb\n", size)), _files(repeated("b\na\na\n", size))


def _interleaved_lines(size: int) -> tuple[str, str]:
    """Return texts in which every search for unique lines finds only one pair."""
    half = [str(number) for number in range(size // 28)]
    before = list(chain.from_iterable((n, f"x{n}") for n in half)) + half[::-1]
    after = half[::-1] + list(chain.from_iterable((f"x{n}", n) for n in half))
    return "\n".join(before), "\n".join(after)


def _interleaved(size: int) -> Sides:
    before, after = _interleaved_lines(size)
    return _files(before), _files(after)


def _nested_pairs(size: int) -> Sides:
    """Return lines that become unique one after the other, each in the gap that the one before it leaves."""
    count = size // 14
    before = [f"{number}" for number in range(count)] + [f"{number}" for number in range(count - 1)]
    after = [f"{number}" for number in range(count - 1)] + [f"{number}" for number in range(count)]
    return _files("\n".join(before[::-1])), _files("\n".join(after[::-1]))


def _changed_words(size: int) -> Sides:
    """Return pairs of similar lines with words in another order."""
    lines = size // 400
    before = "".join(f"{number} {'a b ' * 95}\n" for number in range(lines))
    after = "".join(f"{number} {'b a a ' * 63}\n" for number in range(lines))
    return _files(before), _files(after)


def _long_lines(size: int) -> Sides:
    return _files(repeated("a.", size) + "x"), _files(repeated("a.", size) + "y")


def _many_files(size: int) -> Sides:
    count = min(999, size // 1_000)
    before = {f"{number}.md": repeated("a\nb\n", size // count).encode() for number in range(count)}
    after = {path: content.replace(b"a\nb\na", b"b\na") for path, content in before.items()}
    return before, after


def _equal_lines(size: int) -> tuple[str, str]:
    """Return a text of equal lines, and a patch whose hunks fit everywhere but at their own line."""
    lines = size // 2
    hunk = f"@@ -{lines * 2},200 +1,200 @@\n" + " a\n" * 199 + "-b\n"
    return "a\n" * lines + "b\n", hunk * (size // len(hunk))


def _apply(texts: tuple[str, str]) -> object:
    return patch.apply_patch(*texts)


def _merge_sides(size: int) -> tuple[Mapping[str, bytes], ...]:
    base, theirs = _interleaved_lines(size)
    return _files(base), _files(theirs), _files(base.replace("1", "2"))


def _merge_blank(size: int) -> tuple[Mapping[str, bytes], ...]:
    return _files("\n" * size), _files("a" + "\n" * size), _files("\n" * size + "b")


def _merge(sides: tuple[Mapping[str, bytes], ...]) -> object:
    merged = merge_bundles.merge(*sides)
    return [comparison.three_way(file) for file in merged.open]


def _parse(text: str) -> object:
    return skill_md.read(text.encode(), fallback_name="costs")


def _edit(text: str) -> object:
    return frontmatter.edit(frontmatter.parse(text), {"description": "new"})


def _linted(unit: str, suffix: str = ".md") -> Callable[[int], Bundle]:
    return lambda size: _bundle(repeated(unit, size), suffix)


def _header(unit: str) -> Callable[[int], str]:
    return lambda size: f"---\nname: costs\ndescription: d\n{repeated(unit, size)}\n---\nText.\n"


DIFFS = (
    Shape("blank lines compared with nothing", _blank, _compare, 10 * MB),
    Shape("one change in blank lines", _blank_changed, _compare_whole, 10 * MB),
    Shape("two lines over and over", _two_lines, _compare, 10 * MB),
    Shape("interleaved lines", _interleaved, _compare, MB),
    Shape("lines that become unique one by one", _nested_pairs, _compare, MB),
    Shape("words in another order", _changed_words, _compare, 10 * MB),
    Shape("long lines", _long_lines, _compare, 10 * MB),
    Shape("many changed files", _many_files, _compare, 10 * MB),
    Shape("a patch of equal lines", _equal_lines, _apply, 500 * KB),
    Shape("a merge of interleaved lines", _merge_sides, _merge, 10 * MB),
    Shape("a merge of blank lines", _merge_blank, _merge, 10 * MB),
)
LINTED = (
    "\n", " \n", "`", "``a", "[", "[a](", "a](b", "<!--", "<!---->", "~~~\n", "```\n", "\u200b\u200d", "\u200b", "\r",
    "\ufe0f\u200b", "\U000e0041", "a\u0301", "curl a|", "$(", "sudo ", "a=b ", "'", '"\\', "eval $(curl ", "base64 -d ",
    "A", "Aa", "aA1", "é", "a-", "..", "/", "scripts/", "scripts/a.", "a/b.c ", "://", "http://a@", "a@b.c:", "mcp__",
    "ignore all the ", "do not tell the user ", "without ", "never ", ">\n", "| ", "|a\n", "- \n", "\\x41",
    "-----BEGIN PRIVATE KEY-----", "sk-ant-aa-", "xargs -a ", "function a() ", "exec(", "powershell -", "\t", "   a",
    "/home/a/", "C:\\Users\\a\\", "0", "0,", "日", "環境変数", "\U0001f468\u200d",
)  # fmt: skip
HEADERS = (
    "a: b\n", "{a: b, ", "[", "- ", "- - ", "&a ", "*a ", "a: &a [*a]\n", "? ", "!!a ", "'", '"', "|\n ", "k: |\n  a\n", "# a\n",
    "\n", " ", "a", ": ", "\t", "metadata:\n", "requires: [a]\n", "<<: *a\n", "\\", "%", "é: é\n",
)  # fmt: skip
