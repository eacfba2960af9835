"""Patterns for words in any case. Small letters are compared in a fraction of the time that re.IGNORECASE takes."""

import re
from collections.abc import Iterator
from functools import cached_property

# Letters that re.IGNORECASE takes for others although `str.lower` does not.
_VARIANTS = str.maketrans("İıſᲀᲁᲂᲃᲄᲅᲆᲇ", "iisвдосттъѣ")
_VARIANT = re.compile("[İıſᲀ-ᲇ]")
_LITERAL = re.compile(r"\\.|\(\?P|[^\\(]+|\(", re.DOTALL)


def fold(text: str) -> str:
    """Return the text in small letters. Offsets stay the same."""
    if not text.isascii() and _VARIANT.search(text):
        text = text.translate(_VARIANTS)
    return text.lower()


class AnyCase:
    """Matches what the expression matches with re.IGNORECASE. The text of a match is in small letters.

    `small` is the pattern for text that is folded already, such as one that is searched many times.
    """

    def __init__(self, expression: str, flags: int = 0) -> None:
        self._source = expression, flags

    @cached_property
    def small(self) -> re.Pattern[str]:
        """Compile the pattern at its first use, because most processes scan nothing."""
        expression, flags = self._source
        parts = (part if part.startswith(("\\", "(?P")) else fold(part) for part in _LITERAL.findall(expression))
        return re.compile("".join(parts), flags)

    def search(self, text: str) -> re.Match[str] | None:
        return self.small.search(fold(text))

    def match(self, text: str) -> re.Match[str] | None:
        return self.small.match(fold(text))

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.small.finditer(fold(text))
