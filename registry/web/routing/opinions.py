"""The answer to a tried question as a page shows it: the order, each link's opinion, and the reasons."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.core.catalog import prompt, token_estimate
from registry.core.catalog.prompt import Catalog
from registry.core.routing import words
from registry.services.routing.routing import LinkReport, Routed, RoutedSkill
from registry.web.routing import link_words
from registry.web.routing.link_words import LinkWords

_NAMED_WORDS = 6


@dataclass(frozen=True, slots=True)
class Bar:
    """The opinion of one link about one skill. `width` is from 0 to 100, in one scale for the page."""

    link: LinkWords
    score: str
    width: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """One skill of the order. `why` says what speaks for the first one, and what the others lack."""

    skill: RoutedSkill
    place: int
    bars: tuple[Bar, ...]
    percent: str
    why: str

    @property
    def name(self) -> str:
        return self.skill.candidate.name


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One link of the chain, with its state in words."""

    report: LinkReport
    words: LinkWords
    state: str
    ms: str
    best: str

    @property
    def ran(self) -> bool:
        return self.report.status == "ok"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question. `picked` is None for “No skill fits”."""

    query: str
    routed: Routed
    ranked: tuple[Ranked, ...]
    links: tuple[LinkRow, ...]

    @property
    def picked(self) -> Ranked | None:
        return self.ranked[0] if self.routed.matches else None

    @property
    def best(self) -> Ranked | None:
        return self.ranked[0] if self.ranked else None

    @property
    def others(self) -> tuple[RoutedSkill, ...]:
        """Skills that are too far down for details."""
        return self.routed.ranking[len(self.ranked) :]

    @property
    def certainty(self) -> str:
        return link_words.certainty(self.routed.ranking[0].confidence) if self.ranked else ""

    @property
    def threshold(self) -> str:
        return link_words.percent(self.routed.threshold)

    @property
    def threshold_from(self) -> str:
        return link_words.threshold_from(self.routed.threshold_from)

    @property
    def answered_by(self) -> str:
        return link_words.link(self.routed.answered_by).label if self.routed.answered_by else ""

    @property
    def troubles(self) -> list[LinkRow]:
        return [row for row in self.links if row.report.status not in ("ok", "skipped")]


@dataclass(frozen=True, slots=True)
class InPrompt:
    """The texts that reach the model: the catalog in every prompt, and the instructions of a skill that it loads.

    `line` is the picked skill's line of the catalog. It is empty if the agent gets a shorter catalog without it.
    """

    skills: int
    catalog_tokens: int
    line: str = ""
    line_tokens: int = 0
    instructions_tokens: int = 0


def answer(query: str, routed: Routed, *, shown: int) -> Answer:
    ranking = routed.ranking[:shown]
    top = max((score for skill in ranking for score in skill.by_link.values()), default=0)
    names = list(dict.fromkeys(report.name for report in routed.links))
    ranked = tuple(
        Ranked(
            skill,
            place,
            tuple(_bars(skill, names, top)),
            link_words.probability(skill.confidence),
            " ".join(_lacks(query, skill, ranking[0]) if place > 1 else _speaks_for(query, skill)),
        )
        for place, skill in enumerate(ranking, 1)
    )
    return Answer(query, routed, ranked, tuple(_link_row(report, ranking) for report in routed.links))


def in_prompt(skill: RoutedSkill | None, listed: Catalog) -> InPrompt:
    skills, tokens = len(listed.lines), prompt.cost(listed, "text", "tokens")
    if skill is None:
        return InPrompt(skills, tokens)
    own = tuple(line for line in listed.lines if line.name == skill.candidate.name)
    text = prompt.as_text(Catalog(own)).split("\n")[1] if own else ""
    return InPrompt(skills, tokens, text, token_estimate.estimate(text), skill.candidate.tokens)


def _bars(skill: RoutedSkill, names: Sequence[str], top: float) -> Iterator[Bar]:
    for name in names:
        score = skill.by_link.get(name)
        if score is not None:
            yield Bar(link_words.link(name), f"{score:.1f}", 100 * max(0.0, score) / top if top > 0 else 0)


def _link_row(report: LinkReport, ranking: Sequence[RoutedSkill]) -> LinkRow:
    """Return the row of a link. Its best skill is the first of the order among equals."""
    scored = [(skill.by_link.get(report.name, 0.0), skill.candidate.name) for skill in ranking]
    best = max(scored, key=lambda row: row[0], default=(0.0, ""))
    ms = f"{report.ms:.1f}\u00a0ms" if report.status != "skipped" else ""
    return LinkRow(
        report, link_words.link(report.name), link_words.state(report.status), ms, best[1] if best[0] > 0 else ""
    )


def _speaks_for(query: str, skill: RoutedSkill) -> Iterator[str]:
    """Yield the reasons for the first skill: words that it shares with the question, and the strongest link."""
    has = _terms(skill)
    shared = [term.word for term in words.query(query).terms if term.stem in has]
    if len(shared) > 1:
        yield f"Its name, description or triggers contain {_quoted(shared)}."
    elif skill.reason:
        yield skill.reason
    if len(skill.by_link) > 1:
        yield f"The strongest evidence is “{link_words.link(skill.link).label}”."


def _quoted(found: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in found[:_NAMED_WORDS])


def _lacks(query: str, skill: RoutedSkill, first: RoutedSkill) -> Iterator[str]:
    """Yield what a skill lacks in comparison with the first one: words of the question, and the weakest link."""
    has, lacks = _terms(first), _terms(skill)
    missing = [term.word for term in words.query(query).terms if term.stem in has and term.stem not in lacks]
    if missing:
        yield f"Its description lacks {_quoted(missing)}."
    gaps = {name: score - skill.by_link.get(name, 0.0) for name, score in first.by_link.items()}
    name = max(gaps, key=lambda key: gaps[key], default="")
    if len(gaps) > 1 and gaps[name] > 0:
        yield f"It is furthest behind in “{link_words.link(name).label}”."


def _terms(skill: RoutedSkill) -> frozenset[str]:
    candidate = skill.candidate
    return frozenset(words.terms(" ".join((candidate.name, candidate.description, *candidate.triggers))))
