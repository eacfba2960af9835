"""Paths of a run: `step`, `step[3]`, `step#2`, `step@text.template`, and `step/child` in a nested skill."""

import re

_MEMBER = re.compile(r"\[\d+\]\Z|#\d+\Z|@[^/\[\]#@!]+\Z")
_ATTEMPT = re.compile(r"!\d+\Z")


def item(path: str, index: int) -> str:
    """Return the path of an item of a foreach."""
    return f"{path}[{index}]"


def iteration(path: str, number: int) -> str:
    """Return the path of an iteration of a while, counted from 1."""
    return f"{path}#{number}"


def member(path: str, capability: str) -> str:
    """Return the path of one call of a scatter."""
    return f"{path}@{capability}"


def prefix(path: str, attempt: int) -> str:
    """Return what the paths of a nested skill start with. A later attempt has paths of its own."""
    return f"{path}/" if attempt <= 1 else f"{path}!{attempt}/"


def scope_of(path: str) -> str:
    """Return the prefix of the workflow that a path belongs to: empty for the workflow of the run."""
    return path[: path.rfind("/") + 1]


def owner_of(prefix: str) -> str:
    """Return the path whose nested skill has this prefix."""
    return _ATTEMPT.sub("", prefix.rstrip("/"))


def group_of(path: str) -> str:
    """Return the path of the foreach, while or scatter that a path belongs to, or an empty string."""
    match = _MEMBER.search(path)
    return path[: match.start()] if match else ""


def top_of(path: str) -> str:
    """Return the step of the run's own workflow that a path belongs to."""
    first = _ATTEMPT.sub("", path.partition("/")[0])
    while group := group_of(first):
        first = group
    return first
