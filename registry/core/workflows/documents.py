"""YAML files of workflows and capabilities as JSON values that know their lines."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from registry.core.errors import TooLarge
from registry.core.findings import Finding, Severity
from registry.core.format import strict_yaml
from registry.core.format.strict_yaml import Path, Place
from registry.core.format.yaml_errors import invalid_skill
from registry.core.limits import DEFAULT, Limits
from registry.core.workflows.values import Json


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file. Paths start at the root: `("steps", 0, "uses")`."""

    file: str
    value: Json
    places: Mapping[Path, Place] = field(repr=False)

    def line(self, path: Path) -> int:
        """Return the 1-based line of a key or an item, or of the nearest key or item around it."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places[path].line if path else 1

    def text(self, path: Path) -> str | None:
        """Return a scalar as it is written, so that `version: 1.0` is "1.0". Lists and maps have no text."""
        place = self.places.get(path)
        return place.text if place else None


def load(text: str | bytes, *, file: str, limits: Limits = DEFAULT) -> Document:
    """Parse a file. Raise InvalidSkill or TooLarge, with findings."""
    loaded = strict_yaml.load(_decode(text, file, limits), file=file, limits=limits, dialect=strict_yaml.FILE)
    return Document(file, _plain(loaded.value), loaded.places)


def _decode(text: str | bytes, file: str, limits: Limits) -> str:
    try:
        raw = text.encode() if isinstance(text, str) else text
    except UnicodeEncodeError as error:
        line = error.object.count("\n", 0, error.start) + 1
        message = f"Character {error.start + 1:,} is not a valid character."
        raise invalid_skill("yaml-encoding", file, line, message, "Remove it.") from None
    if len(raw) > limits.frontmatter_bytes:
        message = f"{file} has {len(raw):,} bytes. {limits.frontmatter_bytes:,} are allowed."
        finding = Finding("yaml-size", Severity.ERROR, file, None, message, "Make it smaller.")
        raise TooLarge(
            f"{message} Nothing was saved.", findings=[finding], hit=len(raw), allowed=limits.frontmatter_bytes
        )
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"The file is not UTF-8: byte {error.start + 1:,} is 0x{raw[error.start]:02x}."
        raise invalid_skill("yaml-encoding", file, line, message, "Save the file as UTF-8.") from None


def _plain(value: object) -> Json:
    """Return a value with dicts and lists. Aliases become copies; the parser has counted them."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
