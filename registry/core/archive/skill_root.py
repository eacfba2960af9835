"""Finds the directory among uploaded files that is the skill."""

from collections.abc import Collection, Mapping

from registry.core.archive.zip_records import refusal
from registry.core.bundle import SKILL_MD
from registry.core.errors import InvalidArchive
from registry.core.paths import shown

_NAMED_AT_MOST = 5


def at_root(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files with SKILL.md at the top: as they are, or moved up out of the one directory that has it.

    Files beside that directory are refused, since dropping them would lose what somebody meant to upload.
    """
    if SKILL_MD in files:
        return dict(files)
    wrappers = [path.removesuffix(SKILL_MD) for path in files if path.count("/") == 1 and _is_skill_md(path)]
    if not wrappers:
        raise _without_skill(files)
    if len(wrappers) > 1:
        message = f"There are several skills here: {_listed(wrappers)}."
        raise refusal("root-ambiguous", message, fix="Upload one skill at a time.")
    (wrapper,) = wrappers
    outside = [path for path in files if not path.startswith(wrapper)]
    if outside:
        message = f"The skill is in {shown(wrapper)}, and these files are not: {_listed(outside)}."
        fix = f"Move them into {shown(wrapper)} or leave them out."
        raise refusal("root-outside", message, member=shown(min(outside)), fix=fix)
    return {path.removeprefix(wrapper): content for path, content in files.items()}


def _without_skill(files: Collection[str]) -> InvalidArchive:
    misspelt = [p for p in files if p.count("/") <= 1 and p.rpartition("/")[2].lower() == SKILL_MD.lower()]
    if misspelt:
        message = f"There is no SKILL.md, but there is {_listed(misspelt)}. Rename it to SKILL.md."
        return refusal("root-spelling", message, member=shown(min(misspelt)), fix="Rename it to SKILL.md.")
    deeper = [path for path in files if _is_skill_md(path)]
    if deeper:
        message = f"SKILL.md is more than one directory down: {_listed(deeper)}."
        return refusal("root-too-deep", message, member=shown(min(deeper)), fix="Upload that directory.")
    message = "There is no SKILL.md, neither at the top nor in a directory at the top."
    return refusal("root-missing", message, fix="Add a file named SKILL.md at the top.")


def _is_skill_md(path: str) -> bool:
    return path.rpartition("/")[2] == SKILL_MD


def _listed(names: Collection[str]) -> str:
    first = sorted(names)[:_NAMED_AT_MOST]
    more = len(names) - len(first)
    return ", ".join(map(shown, first)) + (f" and {more:,} more" if more else "")
