"""Gathers what a source says into a listing: safe names, each once, no more than so many, a sentence for the rest."""

from registry.core import paths
from registry.core.bundle import normalise
from registry.core.errors import SkillsiteError
from registry.core.format import skill_md
from registry.core.limits import Limits
from registry.remote.sources.types import MOST_SKILLS, Listing, ListingEntry

_PROBLEMS = 100
_VERSION_CHARS = 100


class ListingBuilder:
    """Offers and problems on their way to being a listing. `most` is how many a source may have."""

    def __init__(self, limits: Limits, *, most: int = MOST_SKILLS) -> None:
        self._limits, self._most = limits, most
        self._entries: dict[str, ListingEntry] = {}
        self._problems: list[str] = []
        self._unsaid = 0
        self.full = False

    def add(self, entry: ListingEntry) -> None:
        try:
            paths.check_component(entry.name, what="name")
        except SkillsiteError as error:
            return self.problem(error.message)
        if normalise(entry.name) in self._entries:
            return self.problem(f"{paths.display(entry.name)} is there more than once. The first one is offered.")
        if len(self._entries) >= self._most:
            self.full = True
            return None
        self._entries[normalise(entry.name)] = entry
        return None

    def problem(self, sentence: str) -> None:
        if len(self._problems) < _PROBLEMS:
            self._problems.append(sentence.removesuffix(" Nothing was stored."))
        else:
            self._unsaid += 1

    def listing(self, *, pin: str = "") -> Listing:
        said = list(self._problems)
        if self._unsaid:
            said.append(f"{self._unsaid:,} more entries cannot be used.")
        if self.full:
            said.insert(0, f"There are more than {self._most:,} skills here. The first {self._most:,} are offered.")
        return Listing(tuple(self._entries.values()), pin, tuple(said))

    def add_skill(self, content: bytes, *, fallback: str, digest: str, location: str) -> None:
        """An offer from the SKILL.md of the directory that is its location. What is too many is not even read."""
        if len(self._entries) >= self._most:
            self.full = True
            return None
        try:
            skill = skill_md.read(content, fallback_name=fallback, limits=self._limits)
        except SkillsiteError as error:
            return self.problem(f"{where(location)}: {error.message}")
        description = text(skill.description, self._limits.description_chars)
        # No version: what the header says of itself often stays the same while the skill changes.
        return self.add(ListingEntry(skill.name, description, digest=digest, location=location))


def where(directory: str) -> str:
    """How a sentence about the skill in a directory begins."""
    return paths.display(directory) if directory else "The skill at the top"


def text(value: object, most: int) -> str:
    """One line of no more than so many characters, whatever was sent."""
    line = " ".join(value.split()) if isinstance(value, str) else ""
    return line if len(line) <= most else f"{line[: most - 1]}…"


def version(value: object) -> str:
    """A version as a source names it; "" where it names none, or none that can be a directory."""
    said = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(said, str) or len(said) > _VERSION_CHARS:
        return ""
    try:
        return paths.check_component(said.strip(), what="version")
    except SkillsiteError:
        return ""
