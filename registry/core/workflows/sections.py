"""Maps in a YAML file, read key by key. Each problem becomes a finding, and reading goes on."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from registry.core.findings import Severity, shorten
from registry.core.format.strict_yaml import Path
from registry.core.format.yaml_errors import clip
from registry.core.text.nearest import nearest_of
from registry.core.workflows.problems import Problems
from registry.core.workflows.values import Json

VALUE, MISSING, UNKNOWN = "workflow-value", "workflow-key-missing", "workflow-key-unknown"
MISPLACED, IGNORED = "workflow-key-misplaced", "workflow-key-ignored"

TEXT_CHARS = 4_000


class Bounds(NamedTuple):
    """The numbers that a key allows. `above` excludes the lowest one."""

    low: float
    high: float
    above: bool = False
    integer: bool = False

    def allow(self, value: Json) -> bool:
        kinds = (int,) if self.integer else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            return False
        return self.low <= value <= self.high and not (self.above and value == self.low)

    def __str__(self) -> str:
        kind = "an integer" if self.integer else "a number"
        return (
            f"{kind} above {self.low:,}, up to {self.high:,}"
            if self.above
            else f"{kind} from {self.low:,} to {self.high:,}"
        )


def shown(value: Json) -> str:
    """Return a value for a message."""
    match value:
        case None:
            return "empty"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"{value:,}" if abs(value) < 1e15 else f"{value}"
        case str():
            return f"“{clip(shorten(value))}”" if value.strip() else "empty"
        case list():
            return "a list"
        case _:
            return "a map"


@dataclass(frozen=True, slots=True)
class Section:
    """A map in the file. `owner` and `prefix` name its keys in messages: `config.retry.max_attempts` of step 'a'."""

    problems: Problems
    path: Path
    value: Mapping[str, Json]
    owner: str = ""
    prefix: str = ""
    read: set[str] = field(default_factory=set)

    def label(self, key: str) -> str:
        return f"`{self.prefix}{clip(key)}`{self.owner}"

    def problem(self, rule: str, key: str, message: str, fix: str, severity: Severity = Severity.ERROR) -> None:
        """Add a finding at a key. The message begins with the name of the key."""
        self.problems.add(rule, (*self.path, key), f"{self.label(key)} {message}", fix, severity)

    def refuse(self, key: str, value: Json, expected: str) -> None:
        verb = "is empty" if shown(value) == "empty" else f"cannot be {shown(value)}"
        self.problem(VALUE, key, f"{verb}.", f"Write {expected}.")

    def missing(self, key: str, fix: str) -> None:
        self.problem(MISSING, key, "is missing.", fix)

    def get(self, key: str) -> Json:
        """Return a value, None if there is none."""
        self.read.add(key)
        return self.value.get(key)

    def text(self, key: str, *, most: int = TEXT_CHARS, expected: str = "text") -> str:
        """Return a text as it is written, also if it looks like a number. Empty if there is none."""
        value = self.get(key)
        if value is None:
            return ""
        text = as_text(self.problems, (*self.path, key), value)
        if text is None and isinstance(value, (int, float)):
            self.problem(VALUE, key, "is a number or a bool without quotes.", "Write it in quotes.")
        elif text is None or len(text) > most:
            self.refuse(key, value, expected if text is None else f"at most {most:,} characters")
        return text if text and len(text) <= most else ""

    def number(self, key: str, bounds: Bounds, default: float) -> float:
        value = self.get(key)
        if value is None:
            return default
        if bounds.allow(value):
            return value  # type: ignore[no-any-return]
        self.refuse(key, value, f"{bounds}{', without quotes' if isinstance(value, str) else ''}")
        return default

    def integer(self, key: str, bounds: Bounds, default: int) -> int:
        return int(self.number(key, bounds, default))

    def flag(self, key: str) -> bool:
        value = self.get(key)
        if value is not None and not isinstance(value, bool):
            self.refuse(key, value, "`true` or `false`")
        return value is True

    def choice(self, key: str, choices: Collection[str], default: str) -> str:
        text = self.text(key)
        if not text or text in choices:
            return text or default
        near = nearest_of(choices, cutoff=0.5)(text)
        fix = f"Did you mean `{near}`?" if near else f"Use one of {', '.join(choices)}."
        self.problem(VALUE, key, f"cannot be {shown(text)}.", fix)
        return default

    def section(self, key: str) -> "Section | None":
        """Return the map below a key, None if there is none."""
        value = self.get(key)
        if value is None:
            return None
        if isinstance(value, dict):
            return Section(self.problems, (*self.path, key), value, self.owner, f"{self.prefix}{clip(key)}.")
        self.refuse(key, value, "keys and values below it")
        return None

    def texts(self, key: str, expected: str) -> tuple[str, ...]:
        """Return a list of texts. Empty ones, lists and maps in it are problems."""
        value = self.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.refuse(key, value, expected)
            return ()
        found = [as_text(self.problems, (*self.path, key, at), item) for at, item in enumerate(value)]
        for at, (text, item) in enumerate(zip(found, value, strict=True)):
            if not text or len(text) > TEXT_CHARS:
                message = f"Item {at + 1} of {self.label(key)} is {shown(item)}."
                self.problems.add(VALUE, (*self.path, key, at), message, f"Write {expected}.")
        return tuple(text for text in found if text and len(text) <= TEXT_CHARS)

    def sections(self) -> "Iterator[tuple[str, Section | None]]":
        """Yield each key with the map below it."""
        for key in self.value:
            yield key, self.section(key)

    def unknown_keys(self, misplaced: Mapping[str, tuple[str, str]] | None = None) -> None:
        """Report every key that nobody has read. `misplaced` has messages and fixes for well-known mistakes."""
        nearest = nearest_of(sorted(self.read), cutoff=0.5)
        for key in self.value:
            if key in self.read:
                continue
            if misplaced and key in misplaced:
                self.problem(MISPLACED, key, *misplaced[key])
                continue
            near = nearest(key)
            fix = f"Did you mean `{near}`?" if near else f"Remove it. Known keys are {', '.join(sorted(self.read))}."
            self.problem(UNKNOWN, key, "is not a known key.", fix)

    def ignore(self, key: str, reason: str) -> None:
        if self.get(key) is not None:
            self.problem(IGNORED, key, reason, "Remove it, or leave it for people to read.", Severity.HINT)


def as_text(problems: Problems, path: Path, value: Json) -> str | None:
    """Return a scalar as it is written. None for lists and maps, and for numbers and bools that come from an alias."""
    if isinstance(value, str):
        return value
    return problems.document.text(path) if isinstance(value, (bool, int, float)) else None
