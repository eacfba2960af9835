"""Skills and questions for the benchmark of routing, generated from a fixed seed.

Word frequencies follow Zipf's law, as in real texts: a few words are in almost every skill and most are in a few. A
skill has about 600 words. A question mixes words of the description of one skill with general ones.
"""

import random
from functools import cache

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md

_SYLLABLES = [
    f"{start}{end}"
    for start in ("b", "c", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "pl")
    for end in ("a", "e", "i", "o", "u", "an", "er", "in", "or")
]
_GENERAL = (
    "how",
    "do",
    "I",
    "can",
    "you",
    "help",
    "me",
    "with",
    "the",
    "a",
    "of",
    "for",
    "please",
    "make",
    "write",
    "new",
)
VOCABULARY = 30_000


@cache
def _words() -> list[str]:
    chosen = random.Random(1)
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        found["".join(chosen.choices(_SYLLABLES, k=chosen.choice((2, 2, 3, 3, 4))))] = None
    return list(found)


@cache
def _weights() -> list[float]:
    """Return the running sum of Zipf weights."""
    total, sums = 0.0, []
    for rank in range(VOCABULARY):
        total += 1.0 / (rank + 40)
        sums.append(total)
    return sums


def _text(chosen: random.Random, count: int) -> str:
    words = chosen.choices(_words(), cum_weights=_weights(), k=count)
    return ". ".join(" ".join(words[at : at + 12]).capitalize() for at in range(0, count, 12)) + "."


def description(number: int) -> str:
    chosen = random.Random(f"description {number}")
    return f"{_text(chosen, 24)} Use when somebody asks for {_text(chosen, 8)}"


def bundle(number: int, mark: str = "") -> Bundle:
    """Return a skill. Skills with another mark have other instructions."""
    chosen = random.Random(f"body {number}{mark}")
    sections = [f"## {_text(chosen, 3)}\n\n{_text(chosen, 70)}" for _ in range(8)]
    text = skill_md.compose(
        name=f"skill-{number:05}",
        description=description(number),
        instructions=f"# {_text(chosen, 3)}\n\n{_text(chosen, 40)}\n\n" + "\n\n".join(sections) + "\n",
        tags=["team", f"group-{number % 20}"],
    )
    return Bundle({SKILL_MD: text.encode()})


def questions(skills: int, count: int) -> list[str]:
    chosen = random.Random(7)
    found = []
    for _ in range(count):
        words = description(chosen.randrange(skills)).lower().replace(".", "").split()
        asked = chosen.sample(words, chosen.randint(3, 8)) + chosen.choices(_GENERAL, k=chosen.randint(2, 6))
        chosen.shuffle(asked)
        found.append(" ".join(asked))
    return found
