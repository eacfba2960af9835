"""Templates with `{{name}}` and `{{a.b}}`: they insert values, and do nothing else."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from registry.core.workflows.builtins import json_paths
from registry.core.workflows.builtins.definition import MOST_BYTES, refuse
from registry.core.workflows.values import Json

MOST_PLACES = 10_000
_PLACE = re.compile(r"\{\{([^{}]*)\}\}")


@dataclass(frozen=True, slots=True)
class Template:
    """`texts` are the texts around the `places`: there is one text more than places."""

    texts: tuple[str, ...]
    places: tuple[tuple[str, ...], ...]

    def fill(self, variables: Mapping[str, Json], most: int = MOST_BYTES) -> str:
        """Return the text with the values. What is inserted is never read as a template again."""
        return "".join(self._parts(dict(variables), most))

    def _parts(self, variables: dict[str, Json], most: int) -> Iterator[str]:
        left = most - len(self.texts[0])
        yield self.texts[0]
        for place, after in zip(self.places, self.texts[1:], strict=True):
            try:
                value = as_text(json_paths.read(variables, place))
            except json_paths.Missing:
                name = json_paths.shown(".".join(place))
                raise refuse(f"The template uses {{{{{name}}}}}, but the variables have no “{name}”.") from None
            left -= len(value) + len(after)
            if left < 0:
                raise refuse("The text of the template becomes larger than 1 MiB with these variables.")
            yield value
            yield after


def parse(text: str) -> Template:
    texts = _PLACE.split(text)
    names = texts[1::2]
    if len(names) > MOST_PLACES:
        raise refuse(f"The template has {len(names):,} places for variables, and {MOST_PLACES:,} are allowed.")
    for outside in texts[::2]:
        if "{{" in outside or "}}" in outside:
            raise refuse("The template has braces without a partner. Write a place for a variable like {{name}}.")
    return Template(tuple(texts[::2]), tuple(json_paths.segments(name.strip()) for name in names))


def as_text(value: Json) -> str:
    """Return the text of a value: as it is for text, and as JSON for everything else."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
