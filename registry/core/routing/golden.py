"""Golden cases: questions with the skills that should be found for them."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from registry.core.bundle import normalise
from registry.core.errors import InvalidRequest

POSITIVE, NEAR_MISS, NEGATIVE = "positive", "near-miss", "negative"
CATEGORIES = (POSITIVE, NEAR_MISS, NEGATIVE)

QUERY_CHARS = 20_000  # of a question, also in a request
NOTE_CHARS = 300
SKILLS = 20  # in one case, expected and acceptable together
CASES = 500  # in one project
SET_CHARS = 125_000  # of all questions of a project, because an evaluation reads them in one request
_ERRORS_SHOWN = 5
NAME_CHARS = 128


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
        for field, label, text in (("query", "question", query), ("note", "note", note)):
            if not _is_storable(text):
                raise InvalidRequest(
                    f"The {label} contains a NUL character or half of a surrogate pair. Remove it.", field=field
                )
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


def case_key(case: Case) -> str:
    """Return the SHA-256 of a question and its answer. The category and the note do not count."""
    answer = [query_digest(case.query), sorted(case.expected), sorted(case.acceptable)]
    return hashlib.sha256(json.dumps(answer).encode()).hexdigest()


def check_all(cases: Sequence[Case], labels: Sequence[str]) -> tuple[Case, ...]:
    """Return the checked cases, one for each question, or raise one InvalidRequest for all that is wrong.

    `labels` name the cases in the message, such as “Line 3”. `index` in the data of the error is the first bad one.
    """
    checked: dict[str, tuple[Case, int]] = {}
    errors = Problems()
    for index, (case, label) in enumerate(zip(cases, labels, strict=True)):
        try:
            good = case.checked()
        except InvalidRequest as error:
            errors.add(index, label, error.message, error.field)
            continue
        first, place = checked.setdefault(query_digest(good.query), (good, index))
        if case_key(first) != case_key(good):
            message = (
                f"This is the same question as in {labels[place].lower()}, with another answer. Remove one of them."
            )
            errors.add(index, label, message, "query")
    errors.raise_any()
    found = tuple(case for case, _ in checked.values())
    check_size([case.query for case in found])
    return found


def check_size(queries: Sequence[str]) -> None:
    """Raise InvalidRequest if a project cannot have so many questions, or such long ones."""
    if len(queries) > CASES:
        message = f"The project would have {len(queries):,} test questions. {CASES:,} are allowed. Delete some first."
        raise refusal(message, "cases")
    chars = sum(map(len, queries))
    if chars > SET_CHARS:
        message = (
            f"The test questions of the project would have {chars:,} characters together. {SET_CHARS:,} are allowed. "
            "Shorten or delete some."
        )
        raise refusal(message, "cases")


def refusal(message: str, field: str) -> InvalidRequest:
    """Return the error for a list of cases as a whole. `errors` has the message alone, as `Problems` lists its own."""
    return InvalidRequest(f"{message} Nothing was saved.", field=field, errors=[message])


class Problems:
    """The errors in a list of cases, raised together so that a person can correct them in one go."""

    def __init__(self) -> None:
        self._found: list[tuple[int, str, str]] = []

    def add(self, index: int, label: str, message: str, field: str = "") -> None:
        self._found.append((index, f"{label}: {message}", field))

    def raise_any(self) -> None:
        if not self._found:
            return
        index, _, field = self._found[0]
        hidden = len(self._found) - _ERRORS_SHOWN
        lines = [message for _, message, _ in self._found[:_ERRORS_SHOWN]]
        lines += [f"There are {hidden:,} more errors."] if hidden > 0 else []
        raise InvalidRequest(f"{' '.join(lines)} Nothing was saved.", field=field, index=index, errors=lines)


def spelt(category: str) -> str:
    """Return the category as it is stored: “Near miss” is near-miss."""
    return category.strip().lower().replace("_", "-").replace(" ", "-")


def _category(category: str, expected: tuple[str, ...]) -> str:
    category = spelt(category)
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
        if not name or len(name) > NAME_CHARS or not _is_storable(name):
            raise InvalidRequest(f"{what} has {name[:40]!r}, which is not a valid skill name.", field=what)
    return names


def _is_storable(text: str) -> bool:
    """Return whether every database can store a text."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
