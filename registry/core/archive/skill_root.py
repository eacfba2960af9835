"""Finds the root of a skill among uploaded files."""

from collections.abc import Collection, Mapping

from registry.core.archive.zip_records import refusal
from registry.core.bundle import SKILL_MD
from registry.core.errors import InvalidArchive
from registry.core.paths import display

# Programs look for this text in the log of a platform.
EXPECTED_AT_ROOT = "Expected SKILL.md file missing at folder root."
MISSING_RULES = frozenset({"root-missing", "root-spelling", "root-too-deep"})

_MAX_NAMES = 5


def move_to_root(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files with SKILL.md at the top level, moved out of a single wrapping directory if there is one.

    Files beside that directory are an error, because dropping them silently could lose work.
    """
    if SKILL_MD in files:
        return dict(files)
    wrappers = [path.removesuffix(SKILL_MD) for path in files if path.count("/") == 1 and _is_skill_md(path)]
    if not wrappers:
        raise _missing_skill_md(files)
    if len(wrappers) > 1:
        message = f"This upload contains several skills: {_listed(wrappers)}."
        raise refusal("root-ambiguous", message, fix="Upload one skill at a time.")
    (wrapper,) = wrappers
    outside = [path for path in files if not path.startswith(wrapper)]
    if outside:
        message = f"The skill is in {display(wrapper)}, but these files are outside it: {_listed(outside)}."
        fix = f"Move them into {display(wrapper)}, or remove them."
        raise refusal("root-outside", message, member=display(min(outside)), fix=fix)
    return {path.removeprefix(wrapper): content for path, content in files.items()}


def _missing_skill_md(files: Collection[str]) -> InvalidArchive:
    misspelt = [p for p in files if p.count("/") <= 1 and p.rpartition("/")[2].lower() == SKILL_MD.lower()]
    if misspelt:
        message = f"SKILL.md is missing, but there is {_listed(misspelt)}. Rename it to SKILL.md."
        return refusal("root-spelling", message, member=display(min(misspelt)), fix="Rename it to SKILL.md.")
    deeper = [path for path in files if _is_skill_md(path)]
    if deeper:
        message = f"SKILL.md is more than one folder deep: {_listed(deeper)}."
        return refusal("root-too-deep", message, member=display(min(deeper)), fix="Upload the folder that contains it.")
    message = "SKILL.md is missing. It must be at the top level or in a folder at the top level."
    return refusal("root-missing", message, fix="Add a file named SKILL.md at the top level.")


def _is_skill_md(path: str) -> bool:
    return path.rpartition("/")[2] == SKILL_MD


def _listed(names: Collection[str]) -> str:
    first = sorted(names)[:_MAX_NAMES]
    more = len(names) - len(first)
    return ", ".join(map(display, first)) + (f" and {more:,} more" if more else "")
