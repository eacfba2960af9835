"""The catalog in an agent's prompt: names and descriptions of skills as text, XML or JSON, within a budget.

A budget never drops a skill silently. Descriptions are shortened first, all to the same length. Skills that still do
not fit are omitted from the end, and the catalog names them.
"""

import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, takewhile
from typing import Literal, TypedDict
from urllib.parse import quote

from registry.core.catalog import token_estimate
from registry.core.errors import InvalidRequest
from registry.core.limits import DEFAULT, Limits
from registry.core.text.shorten import one_line, shorten

Unit = Literal["tokens", "characters"]
Form = Literal["json", "text", "xml"]

READABLE_CHARS = 40  # descriptions are not shortened below this; skills are omitted instead
_SHOWN_INPUTS = 10  # of a workflow
NAMED = 30  # of the skills beyond `keep`; if there are more, text and XML show only their number

_BUDGET = re.compile(r"([1-9][0-9]{0,8})\s*(t|tokens?|c|chars?|characters?)?", re.IGNORECASE)
_LEAST_NAME = token_estimate.MILLI  # least weight of a name in a list: the comma before it is a token


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
    """The lines to show. If not even the omitted names fit, text and XML show only their number."""

    lines: tuple[CatalogLine, ...]
    omitted: tuple[str, ...] = ()
    omitted_by_name: bool = True


# Limits of agents that cut off the list themselves. Claude Code's default is 1 % of a context of 200,000 tokens, with
# four characters for each token.
PRESETS = {"claude-code": Budget(8_000, "characters"), "codex": Budget(8_000, "characters")}


def parse_budget(text: str) -> Budget:
    """Parse `2000` or `2000t` (tokens), `8000c` (characters) or the name of an agent in PRESETS."""
    if preset := PRESETS.get(text.strip().lower()):
        return preset
    match = _BUDGET.fullmatch(text.strip())
    if not match:
        raise InvalidRequest(
            f"“{text[:40]}” is not a budget. "
            f"Write a number of tokens (2000), a number of characters (8000c), or {', '.join(PRESETS)}."
        )
    return Budget(int(match[1]), "characters" if (match[2] or "t").lower().startswith("c") else "tokens")


def summary(name: str, tokens: int) -> str:
    return f"Skill loaded: {name} (approx. {tokens} tokens)"


def hint(requires: Sequence[str]) -> str:
    if not requires:
        return ""
    return f"This skill requires: {', '.join(requires)}. Load it first if you haven't already."


def workflow_hint(name: str, inputs: Sequence[str]) -> str:
    """Return how to start the workflow of a skill. `inputs` are its inputs with their types in words."""
    shown = ", ".join((*inputs[:_SHOWN_INPUTS], "…") if len(inputs) > _SHOWN_INPUTS else inputs) or "none"
    return f"This skill has a workflow. Call start_run with skill “{name}” to let the site run it. Inputs: {shown}."


@dataclass(frozen=True, slots=True)
class _Writer:
    """One output format. Every part ends with a line end, so the cost of the whole is the sum of its parts."""

    head: str
    entry: Callable[[CatalogLine], str]
    omitted: Callable[[Sequence[str], bool], str]
    foot: str
    omitted_line: Callable[[str], str] | None = None  # set where each omitted name has its own line

    def write(self, catalog: Catalog) -> str:
        if not catalog.lines and not catalog.omitted:
            return ""
        omitted = self.omitted(catalog.omitted, catalog.omitted_by_name) if catalog.omitted else ""
        return self.head + "".join(map(self.entry, catalog.lines)) + omitted + self.foot


def _text_omitted(names: Sequence[str], by_name: bool) -> str:
    count = "1 more skill is not listed" if len(names) == 1 else f"{len(names):,} more skills are not listed"
    return f"{count}: {', '.join(names)}.\n" if by_name else f"{count}.\n"


def _xml_entry(line: CatalogLine) -> str:
    return (
        f"<skill>\n<name>{html.escape(line.name)}</name>\n"
        f"<description>{html.escape(line.description)}</description>\n"
        f"<location>skill://{quote(line.name, safe='')}/SKILL.md</location>\n</skill>\n"
    )


def _xml_omitted(names: Sequence[str], by_name: bool) -> str:
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
        omitted=_text_omitted,
        foot="\nUse read_skill(skill_id) to load full instructions.\n",
    ),
    "xml": _Writer(
        head="<available_skills>\n",
        entry=_xml_entry,
        omitted=_xml_omitted,
        foot="</available_skills>\n",
    ),
    # Used for measuring only: one entry per line, and room for the numbers and the revision around the two lists.
    "json": _Writer(
        head='{"skills":[\n',
        entry=lambda line: _json({"name": line.name, "description": line.description}) + ",\n",
        omitted=lambda names, _: "".join(map(_json_name, names)),
        omitted_line=_json_name,
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
    """Return the size of the catalog in this form. A budget limits this number."""
    lines = _WRITERS[form].write(catalog).split("\n")[:-1]
    total = sum(_measure(line + "\n", unit) for line in lines)
    return -(-total // token_estimate.MILLI) if unit == "tokens" else total


@lru_cache(maxsize=65_536)
def _weight(line: str) -> int:
    """Cache weights: catalogs are requested often, and their lines rarely change."""
    return token_estimate.weight(line)


def _measure(text: str, unit: Unit) -> int:
    return _weight(text) if unit == "tokens" else len(text)


def fit(
    lines: Sequence[CatalogLine],
    *,
    budget: Budget | None,
    form: Form,
    limits: Limits = DEFAULT,
    keep: int | None = None,
) -> Catalog:
    """Return the catalog in the given order, within the budget where possible. Lines after `keep` are omitted."""
    most = limits.catalog_description_chars
    folded = [CatalogLine(one_line(line.name), one_line(line.description)) for line in lines]
    whole, rest = folded[:keep], tuple(line.name for line in folded[len(folded[:keep]) :])
    fitting = _Fitting(_WRITERS[form], budget or Budget(0, "tokens"), rest)
    catalog = fitting.catalog(whole, most)
    if budget is None or not lines or fitting.fits(catalog):
        return catalog
    floor = fitting.catalog(whole, min(READABLE_CHARS, most))
    if not fitting.fits(floor):
        return fitting.omit(floor.lines)
    return fitting.longest(whole, floor, most)


def _shortened(lines: Sequence[CatalogLine], most: int) -> tuple[CatalogLine, ...]:
    return tuple(
        line if len(line.description) <= most else CatalogLine(line.name, shorten(line.description, most))
        for line in lines
    )


@dataclass(frozen=True, slots=True)
class _Fitting:
    """The search for the largest catalog that fits one budget in one form. `rest` is omitted in any case."""

    writer: _Writer
    budget: Budget
    rest: tuple[str, ...] = ()

    @property
    def names_rest(self) -> bool:
        return len(self.rest) <= NAMED

    def catalog(self, lines: Sequence[CatalogLine], most: int) -> Catalog:
        return Catalog(_shortened(lines, most), self.rest, omitted_by_name=self.names_rest)

    @property
    def allowed(self) -> int:
        return self.budget.amount * (token_estimate.MILLI if self.budget.unit == "tokens" else 1)

    def measure(self, text: str) -> int:
        return _measure(text, self.budget.unit)

    def sums(self, lines: Sequence[CatalogLine]) -> list[int]:
        """Return the cost of the first 0, 1, 2, … skills, while it is within the budget."""
        entries = (self.measure(self.writer.entry(line)) for line in lines)
        within = takewhile(lambda total: total <= self.allowed, accumulate(entries, initial=self.frame))
        return list(within)

    @property
    def frame(self) -> int:
        return self.measure(self.writer.head) + self.measure(self.writer.foot)

    def fits(self, catalog: Catalog) -> bool:
        sums = self.sums(catalog.lines)
        if len(sums) <= len(catalog.lines):
            return False
        return not self.rest or sums[-1] + self.cost_of_omitting_after(self.rest)(0, self.names_rest) <= self.allowed

    def longest(self, whole: Sequence[CatalogLine], floor: Catalog, most: int) -> Catalog:
        """Return all skills with the longest descriptions that fit. `floor` is known to fit."""
        best, low, high = floor, READABLE_CHARS + 1, most - 1
        while low <= high:
            middle = (low + high) // 2
            candidate = self.catalog(whole, middle)
            if self.fits(candidate):
                best, low = candidate, middle + 1
            else:
                high = middle - 1
        return best

    def omit(self, lines: tuple[CatalogLine, ...]) -> Catalog:
        """Return as many skills from the front as fit beside the names, or else the number, of the omitted ones."""
        sums = self.sums(lines)
        names = (*(line.name for line in lines), *self.rest)
        omitted_cost = self.cost_of_omitting_after(names)
        by_name = self.names_rest and omitted_cost(0, True) + self.frame <= self.allowed
        low, high = 0, len(sums) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if sums[middle] + omitted_cost(middle, by_name) <= self.allowed:
                low = middle
            else:
                high = middle - 1
        return Catalog(lines[:low], names[low:], omitted_by_name=by_name)

    def cost_of_omitting_after(self, names: Sequence[str]) -> Callable[[int, bool], int]:
        """Return a function for the cost of naming all but the first so many as omitted."""
        write = self.writer.omitted_line
        if write is not None:
            costs = list(accumulate((self.measure(write(name)) for name in reversed(names)), initial=0))
            return lambda first, _: costs[len(names) - first]

        def cost(first: int, by_name: bool) -> int:
            rest = names[first:]
            if by_name and self.budget.unit == "tokens" and len(rest) * _LEAST_NAME > self.allowed:
                return len(rest) * _LEAST_NAME  # over the budget already; weighing ten thousand names is slow
            text = self.writer.omitted(rest, by_name)  # too long and too variable for the cache of `_weight`
            return token_estimate.weight(text) if self.budget.unit == "tokens" else len(text)

        return cost
