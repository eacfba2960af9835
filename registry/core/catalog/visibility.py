"""The definition of an agent: its texts and the skills it uses and sees."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from registry.core import roles
from registry.core.bundle import normalise
from registry.core.errors import InvalidRequest

TEXT_CHARS, SKILLS, NAME_CHARS = 100_000, 500, 128
BEST_SKILLS = 50  # as many as an answer of routing can have


@dataclass(frozen=True, slots=True)
class Definition:
    """`uses_skills` are part of the agent's instructions. `allowed_skills` is None where it may see every skill.

    With `best_skills`, the catalog has only so many skills: those that fit the prompt best.
    """

    prompt: str = ""
    instructions: str = ""
    uses_skills: tuple[str, ...] = ()
    allowed_skills: tuple[str, ...] | None = None
    trust: str = roles.STANDARD
    best_skills: int | None = None

    def checked(self) -> "Definition":
        """Return the definition with normalised names, or raise InvalidRequest."""
        for what, text in (("prompt", self.prompt), ("instructions", self.instructions)):
            if len(text) > TEXT_CHARS:
                raise InvalidRequest(f"{what} has {len(text):,} characters. At most {TEXT_CHARS:,} are allowed.")
            if "\0" in text:
                raise InvalidRequest(f"{what} contains a NUL character. Remove it.")
        if self.trust not in roles.TRUST_LEVELS:
            raise InvalidRequest(f"There is no trust level {self.trust!r}. There are: {', '.join(roles.TRUST_LEVELS)}.")
        allowed = None if self.allowed_skills is None else _names("allowed_skills", self.allowed_skills)
        self._check_best_skills()
        return replace(self, uses_skills=_names("uses_skills", self.uses_skills), allowed_skills=allowed)

    def _check_best_skills(self) -> None:
        if self.best_skills is None:
            return
        if not 1 <= self.best_skills <= BEST_SKILLS:
            raise InvalidRequest(f"best_skills is a number from 1 to {BEST_SKILLS}.", field="best_skills")
        if not (self.prompt.strip() or self.instructions.strip()):
            raise InvalidRequest(
                "best_skills chooses skills by the role prompt, and this agent has none. Write one, or leave out "
                "best_skills.",
                field="best_skills",
            )


def visible(allowed: Sequence[str] | None, uses: Sequence[str]) -> frozenset[str] | None:
    """Return the names of the skills that an agent may see, or None where it may see all."""
    return None if allowed is None else frozenset((*allowed, *uses))


def _names(what: str, values: Iterable[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(normalise(value) for value in values))
    if len(names) > SKILLS:
        raise InvalidRequest(f"{what} lists {len(names):,} skills. At most {SKILLS:,} are allowed.")
    for name in names:
        if not name or len(name) > NAME_CHARS or "\0" in name:
            raise InvalidRequest(f"{what} lists {name[:40]!r}, which is not a valid skill name.")
    return names
