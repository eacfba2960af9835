"""What an agent is told about the skills there are: the catalog in three forms, its budget, and the hints.

A budget never drops a skill without a word: descriptions are shortened first, all to the same length; what
still does not fit is left out from the end and named.
"""

import html
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, takewhile
from typing import Literal, TypedDict
from urllib.parse import quote

from registry.core.catalog import token_estimate
from registry.core.errors import InvalidRequest
from registry.core.limits import DEFAULT, Limits

Unit = Literal["tokens", "characters"]
Form = Literal["json", "text", "xml"]

READABLE_CHARS = 40  # a description is not shortened below this; rather is its skill left out and named

_BUDGET = re.compile(r"([1-9][0-9]{0,8})\s*(t|tokens?|c|chars?|characters?)?", re.IGNORECASE)
_FOLDED = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]+")  # the last two are no characters of XML
_ZERO_WIDTH_JOINER = "\u200d"
_LEAST_NAME = token_estimate.MILLI  # a name in a list weighs no less: the comma before it is a token


@dataclass(frozen=True, slots=True)
class CatalogLine:
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Budget:
    amount: int
    unit: Unit


@dataclass(frozen=True, slots=True)
class Catalog:
    """`lines` as they are shown. Where not even the names left out fit, text and XML give their number."""

    lines: tuple[CatalogLine, ...]
    omitted: tuple[str, ...] = ()
    omitted_by_name: bool = True


# What the listing of skills may cost in agents that cut it off on their own. For Claude Code it is a hundredth of a
# context of 200,000 tokens with four characters each, unless somebody set it otherwise.
PRESETS = {"claude-code": Budget(8_000, "characters"), "codex": Budget(8_000, "characters")}


def parse_budget(text: str) -> Budget:
    """`2000` and `2000t` are tokens, `8000c` are characters, `claude-code` is what that agent lists."""
    if preset := PRESETS.get(text.strip().lower()):
        return preset
    match = _BUDGET.fullmatch(text.strip())
    if not match:
        raise InvalidRequest(
            f"The budget “{text[:40]}” cannot be read. "
            f"Write a number of tokens, such as 2000, of characters, such as 8000c, or {', '.join(PRESETS)}."
        )
    return Budget(int(match[1]), "characters" if (match[2] or "t").lower().startswith("c") else "tokens")


def summary(name: str, tokens: int) -> str:
    return f"Skill loaded: {name} (approx. {tokens} tokens)"


def hint(requires: Sequence[str]) -> str:
    if not requires:
        return ""
    return f"This skill requires: {', '.join(requires)}. Load it first if you haven't already."


def one_line(text: str) -> str:
    """The text without line ends and control characters, so that no skill can write another one's line."""
    if text.isprintable() and "  " not in text:  # as most are, and there may be ten thousand
        return text.strip()
    return _FOLDED.sub(" ", text).strip()


def shorten(text: str, most: int) -> str:
    """At most so many characters, the ellipsis included; between words where that keeps most of it."""
    if len(text) <= most:
        return text
    end = _before_a_whole_character(text, most - 1)
    space = text.rfind(" ", end // 2, end + 1)
    return text[: space if space > 0 else end].rstrip(" ,;:–—-") + "…"


def _before_a_whole_character(text: str, end: int) -> int:
    """The last place up to `end` that parts no accent from its letter and no emoji from its modifiers."""
    for place in range(end, 0, -1):
        if not _belongs_to_the_one_before(text[place]) and text[place - 1] != _ZERO_WIDTH_JOINER:
            return place
    return end


def _belongs_to_the_one_before(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
        or "\U0001f1e6" <= character <= "\U0001f1ff"  # halves of a flag
    )


@dataclass(frozen=True, slots=True)
class _Writer:
    """One form. Every part ends its line, so the cost of the whole is the sum of the costs of the parts."""

    head: str
    entry: Callable[[CatalogLine], str]
    left_out: Callable[[Sequence[str], bool], str]
    foot: str
    name: Callable[[str], str] | None = None  # where each name left out has a line of its own, that line

    def write(self, catalog: Catalog) -> str:
        if not catalog.lines and not catalog.omitted:
            return ""
        left_out = self.left_out(catalog.omitted, catalog.omitted_by_name) if catalog.omitted else ""
        return self.head + "".join(map(self.entry, catalog.lines)) + left_out + self.foot


def _text_left_out(names: Sequence[str], by_name: bool) -> str:
    said = "1 more skill is not listed" if len(names) == 1 else f"{len(names):,} more skills are not listed"
    return f"{said}: {', '.join(names)}.\n" if by_name else f"{said}.\n"


def _xml_entry(line: CatalogLine) -> str:
    return (
        f"<skill>\n<name>{html.escape(line.name)}</name>\n"
        f"<description>{html.escape(line.description)}</description>\n"
        f"<location>skill://{quote(line.name, safe='')}/SKILL.md</location>\n</skill>\n"
    )


def _xml_left_out(names: Sequence[str], by_name: bool) -> str:
    if by_name:
        return f"<omitted>{html.escape(', '.join(names))}</omitted>\n"
    return f'<omitted count="{len(names)}"/>\n'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _json_name(name: str) -> str:
    return _json(name) + ",\n"


_WRITERS: dict[Form, _Writer] = {
    "text": _Writer(
        head="[Available Skills]\n",
        entry=lambda line: f"• `{line.name}` — {line.description}\n",
        left_out=_text_left_out,
        foot="\nUse read_skill(skill_id) to load full instructions.\n",
    ),
    "xml": _Writer(
        head="<available_skills>\n",
        entry=_xml_entry,
        left_out=_xml_left_out,
        foot="</available_skills>\n",
    ),
    # Only measured: an entry a line, and room for the numbers and the revision around the two lists.
    "json": _Writer(
        head='{"skills":[\n',
        entry=lambda line: _json({"name": line.name, "description": line.description}) + ",\n",
        left_out=lambda names, _: "".join(map(_json_name, names)),
        name=_json_name,
        foot=f'],\n"included":1000000,"omitted":[],"tokens":1000000,\n"revision":"sha256:{"0" * 64}"}}\n',
    ),
}


def as_text(catalog: Catalog) -> str:
    return _WRITERS["text"].write(catalog).removesuffix("\n")


def as_xml(catalog: Catalog) -> str:
    return _WRITERS["xml"].write(catalog).removesuffix("\n")


class CatalogEntry(TypedDict):
    name: str
    description: str


class CatalogShape(TypedDict):
    skills: list[CatalogEntry]
    included: int
    omitted: list[str]
    tokens: int
    revision: str


def as_json(catalog: Catalog, revision: str) -> CatalogShape:
    return {
        "skills": [{"name": line.name, "description": line.description} for line in catalog.lines],
        "included": len(catalog.lines),
        "omitted": list(catalog.omitted),
        "tokens": cost(catalog, "json", "tokens"),
        "revision": revision,
    }


def cost(catalog: Catalog, form: Form, unit: Unit) -> int:
    """What the catalog costs in this form; the number that a budget is held against."""
    lines = _WRITERS[form].write(catalog).split("\n")[:-1]
    total = sum(_measure(line + "\n", unit) for line in lines)
    return -(-total // token_estimate.MILLI) if unit == "tokens" else total


@lru_cache(maxsize=65_536)
def _weight(line: str) -> int:
    """Catalogs are asked for again and again, and their lines seldom change."""
    return token_estimate.weight(line)


def _measure(text: str, unit: Unit) -> int:
    return _weight(text) if unit == "tokens" else len(text)


def fit(lines: Sequence[CatalogLine], *, budget: Budget | None, form: Form, limits: Limits = DEFAULT) -> Catalog:
    """The catalog as it is shown: within the budget wherever that is possible, in the order given."""
    most = limits.catalog_description_chars
    whole = [CatalogLine(one_line(line.name), one_line(line.description)) for line in lines]
    catalog = Catalog(_shortened(whole, most))
    if budget is None or not lines:
        return catalog
    fitting = _Fitting(_WRITERS[form], budget)
    if fitting.holds(catalog):
        return catalog
    floor = Catalog(_shortened(whole, min(READABLE_CHARS, most)))
    if not fitting.holds(floor):
        return fitting.leave_out(floor.lines)
    return fitting.longest(whole, floor, most)


def _shortened(lines: Sequence[CatalogLine], most: int) -> tuple[CatalogLine, ...]:
    return tuple(
        line if len(line.description) <= most else CatalogLine(line.name, shorten(line.description, most))
        for line in lines
    )


@dataclass(frozen=True, slots=True)
class _Fitting:
    """The search for the most that can be said in one form for one budget."""

    writer: _Writer
    budget: Budget

    @property
    def allowed(self) -> int:
        return self.budget.amount * (token_estimate.MILLI if self.budget.unit == "tokens" else 1)

    def measure(self, text: str) -> int:
        return _measure(text, self.budget.unit)

    def sums(self, lines: Sequence[CatalogLine]) -> list[int]:
        """The cost of the first 0, 1, 2, … skills, as far as they are within the budget."""
        entries = (self.measure(self.writer.entry(line)) for line in lines)
        within = takewhile(lambda total: total <= self.allowed, accumulate(entries, initial=self.frame))
        return list(within)

    @property
    def frame(self) -> int:
        return self.measure(self.writer.head) + self.measure(self.writer.foot)

    def holds(self, catalog: Catalog) -> bool:
        return len(self.sums(catalog.lines)) == len(catalog.lines) + 1

    def longest(self, whole: Sequence[CatalogLine], floor: Catalog, most: int) -> Catalog:
        """All skills, with the longest descriptions that hold; `floor` is known to."""
        best, low, high = floor, READABLE_CHARS + 1, most - 1
        while low <= high:
            middle = (low + high) // 2
            candidate = Catalog(_shortened(whole, middle))
            if self.holds(candidate):
                best, low = candidate, middle + 1
            else:
                high = middle - 1
        return best

    def leave_out(self, lines: tuple[CatalogLine, ...]) -> Catalog:
        """As many skills from the front as hold beside the names, or else the number, of those left out."""
        sums = self.sums(lines)
        names = tuple(line.name for line in lines)
        left_out = self.left_out_after(names)
        by_name = left_out(0, True) + self.frame <= self.allowed
        low, high = 0, len(sums) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if sums[middle] + left_out(middle, by_name) <= self.allowed:
                low = middle
            else:
                high = middle - 1
        return Catalog(lines[:low], names[low:], omitted_by_name=by_name)

    def left_out_after(self, names: Sequence[str]) -> Callable[[int, bool], int]:
        """What it costs to say that all but the first so many are left out."""
        write = self.writer.name
        if write is not None:
            costs = list(accumulate((self.measure(write(name)) for name in reversed(names)), initial=0))
            return lambda first, _: costs[len(names) - first]

        def cost(first: int, by_name: bool) -> int:
            rest = names[first:]
            if by_name and self.budget.unit == "tokens" and len(rest) * _LEAST_NAME > self.allowed:
                return len(rest) * _LEAST_NAME  # too much already, and ten thousand names take long to weigh
            said = self.writer.left_out(rest, by_name)  # too long and too various to be worth remembering
            return token_estimate.weight(said) if self.budget.unit == "tokens" else len(said)

        return cost
