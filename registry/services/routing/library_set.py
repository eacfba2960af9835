"""The golden set that is shipped with the built-in skills, for projects that serve them."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import registry
from registry.core.routing import golden_files
from registry.core.routing.golden import Case

PATH = Path(registry.__file__).parent / "golden" / "library.json"


def cases_for(served: Iterable[str]) -> tuple[Case, ...]:
    """Return the cases whose expected skills a project serves. Without any of them, the set does not apply."""
    names = frozenset(served)
    cases = tuple(case for case in _cases() if names.issuperset(case.expected))
    return cases if any(case.expected for case in cases) else ()


@cache
def _cases() -> tuple[Case, ...]:
    return golden_files.read(PATH.read_bytes())
