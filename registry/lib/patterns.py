"""Regular expressions that are compiled when they are first used.

Compiling the long expressions of the security scan takes a third of a second, and most processes scan nothing.
"""

import re
from functools import cached_property
from typing import Any, cast


class _LazyPattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._source)

    def __getattr__(self, name: str) -> Any:
        """Keep the attribute, such as the method `search`, so that later uses are as fast as those of `re.Pattern`."""
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern for its methods and attributes. The functions of `re` do not take it."""
    return cast(re.Pattern[str], _LazyPattern(pattern, flags))
