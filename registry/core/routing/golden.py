"""Golden cases: questions with the skills that should be found for them."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from registry.core.bundle import normalise
from registry.core.errors import InvalidRequest

POSITIVE, NEAR_MISS, NEGATIVE = "positive", "near-miss", "negative"
CATEGORIES = (POSITIVE, NEAR_MISS, NEGATIVE)

QUERY_CHARS = 20_000  # of a question, also in a request
NOTE_CHARS = 300
SKILLS = 20  # in one case, expected and acceptable together
CASES = 1_000  # in one project
_NAME_CHARS = 128


@dataclass(frozen=True, slots=True)
class Case:
    """A question and its answer. Without an expected skill, no skill should be found.

    Each of `expected` is a right answer. A skill in `acceptable` is not wrong, but not counted as right either.
    """

    query: str
    expected: tuple[str, ...] = ()
    acceptable: tuple[str, ...] = ()
    category: str = ""
    note: str = ""

    def checked(self) -> "Case":
        """Return the case with normalised names and a category, or raise InvalidRequest."""
        query, note = self.query.strip(), " ".join(self.note.split())
        if not query:
            raise InvalidRequest("The question is empty. Enter what somebody would ask.", field="query")
        if len(query) > QUERY_CHARS:
            raise InvalidRequest(
                f"The question has {len(query):,} characters. {QUERY_CHARS:,} are allowed.", field="query"
            )
        if "\0" in query or "\0" in note:
            raise InvalidRequest("The question or the note contains a NUL character. Remove it.", field="query")
        if len(note) > NOTE_CHARS:
            raise InvalidRequest(f"The note has {len(note)} characters. {NOTE_CHARS} are allowed.", field="note")
        expected = _names("expected", self.expected)
        acceptable = tuple(name for name in _names("acceptable", self.acceptable) if name not in expected)
        if len(expected) + len(acceptable) > SKILLS:
            raise InvalidRequest(f"A case names at most {SKILLS} skills.", field="expected")
        return Case(query, expected, acceptable, _category(self.category, expected), note)


def query_digest(query: str) -> str:
    """Return the SHA-256 of a question. Case and spaces do not count, so that equal questions are one case."""
    return hashlib.sha256(" ".join(query.lower().split()).encode("utf-8", "surrogatepass")).hexdigest()


def _category(category: str, expected: tuple[str, ...]) -> str:
    category = category.strip().lower().replace("_", "-").replace(" ", "-")
    if not category:
        return POSITIVE if expected else NEGATIVE
    if category not in CATEGORIES:
        raise InvalidRequest(
            f"There is no category {category[:40]!r}. There are: {', '.join(CATEGORIES)}.", field="category"
        )
    if category == POSITIVE and not expected:
        raise InvalidRequest("A positive case needs an expected skill. Name one, or use “negative”.", field="category")
    if category == NEGATIVE and expected:
        raise InvalidRequest(
            "A negative case has no expected skill. Remove the skill, or use “positive”.", field="category"
        )
    return category


def _names(what: str, values: Iterable[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(normalise(value) for value in values))
    for name in names:
        if not name or len(name) > _NAME_CHARS or "\0" in name:
            raise InvalidRequest(f"{what} has {name[:40]!r}, which is not a valid skill name.", field="expected")
    return names
