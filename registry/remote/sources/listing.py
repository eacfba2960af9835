"""Builder of listings: checks names, removes duplicates, applies limits and collects problems."""

from registry.core import paths
from registry.core.bundle import normalise
from registry.core.errors import SkillsiteError
from registry.core.format import skill_md
from registry.core.limits import Limits
from registry.remote.sources.types import MOST_SKILLS, Listing, ListingEntry

_PROBLEMS = 100
_VERSION_CHARS = 100


class ListingBuilder:
    """Collects entries and problems. `most` is the maximum number of entries."""

    def __init__(self, limits: Limits, *, most: int = MOST_SKILLS) -> None:
        self._limits, self._most = limits, most
        self._entries: dict[str, ListingEntry] = {}
        self._problems: list[str] = []
        self._more_problems = 0
        self.full = False

    def add(self, entry: ListingEntry) -> None:
        try:
            paths.check_component(entry.name, what="name")
        except SkillsiteError as error:
            return self.problem(error.message)
        if normalise(entry.name) in self._entries:
            return self.problem(f"{paths.display(entry.name)} appears more than once. The first one is used.")
        if len(self._entries) >= self._most:
            self.full = True
            return None
        self._entries[normalise(entry.name)] = entry
        return None

    def problem(self, sentence: str) -> None:
        if len(self._problems) < _PROBLEMS:
            self._problems.append(sentence.removesuffix(" Nothing was saved."))
        else:
            self._more_problems += 1

    def listing(self, *, pin: str = "") -> Listing:
        problems = list(self._problems)
        if self._more_problems:
            problems.append(f"{self._more_problems:,} more skills cannot be used.")
        if self.full:
            problems.insert(0, f"This source has more than {self._most:,} skills. The first {self._most:,} are listed.")
        return Listing(tuple(self._entries.values()), pin, tuple(problems))

    def add_skill(self, content: bytes, *, fallback: str, digest: str, location: str) -> None:
        """Add an entry for a SKILL.md. Over the maximum, the content is not parsed."""
        if len(self._entries) >= self._most:
            self.full = True
            return None
        try:
            skill = skill_md.read(content, fallback_name=fallback, limits=self._limits)
        except SkillsiteError as error:
            return self.problem(f"{where(location)}: {error.message}")
        description = text(skill.description, self._limits.description_chars)
        # No version: the one in the frontmatter often stays the same while the skill changes.
        return self.add(ListingEntry(skill.name, description, digest=digest, location=location))


def where(directory: str) -> str:
    """Return the start of a sentence about the skill in a directory."""
    return paths.display(directory) if directory else "The skill at the root"


def text(value: object, most: int) -> str:
    """Return one line of at most `most` characters; empty if `value` is not a string."""
    line = " ".join(value.split()) if isinstance(value, str) else ""
    return line if len(line) <= most else f"{line[: most - 1]}…"


def version(value: object) -> str:
    """Return the version of a source, or "" if it has none or it is not safe as a directory name."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or len(text) > _VERSION_CHARS:
        return ""
    try:
        return paths.check_component(text.strip(), what="version")
    except SkillsiteError:
        return ""
