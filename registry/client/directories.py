"""Directories on this machine: the cache, and those that agents read skills from."""

import os
from pathlib import Path

from registry.client.errors import LocalProblem, Misconfigured

# Relative to the directory of a project. Cursor reads the common directory too.
DIRECTORIES = {
    "claude-code": ".claude/skills",
    "cursor": ".agents/skills",
    "codex": ".agents/skills",
    "agents": ".agents/skills",
}
_SHARED = Path("/data")


def cache_root(argument: str | Path | None) -> Path:
    """Return the argument, else PERSISTENT_VOLUME_STORAGE, else /data if it is writable, else the user's cache."""
    if argument:
        return Path(argument).expanduser().absolute()
    if volume := os.environ.get("PERSISTENT_VOLUME_STORAGE"):
        return Path(volume).absolute()
    if _SHARED.is_dir() and os.access(_SHARED, os.W_OK | os.X_OK):
        return _SHARED
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if Path(named).is_absolute() else _home() / ".cache") / "skillsite"


def skills_directory(directory: str | Path, agent: str | None) -> Path:
    """Return `directory`, or the directory below it that the agent reads, if no link leads out of `directory`."""
    root = Path(directory).expanduser()
    if agent is None:
        return root
    real_directory(root / DIRECTORIES[agent], root=root)
    return root / DIRECTORIES[agent]


def real_directory(directory: Path, *, root: Path | None = None) -> Path:
    """Return the directory without symbolic links. Raise LocalProblem if a link leads out of the place it is in.

    A checked-out repository may contain `.claude/skills` as a link to a home directory. Inside the working directory,
    links must therefore stay inside. Elsewhere they must stay inside `root`, by default the parent directory.
    """
    try:
        working, named = Path.cwd(), Path(os.path.abspath(directory))  # noqa: PTH100 - resolve() would follow links
        within = working if working in (named, *named.parents) else root or named.parent
        real, outermost = named.resolve(), within.resolve()
    except (OSError, RuntimeError) as error:
        raise LocalProblem(f"{directory} is a link that leads nowhere. Remove the link.") from error
    if outermost not in (real, *real.parents):
        raise LocalProblem(
            f"{directory} is a link to {real}, outside of {within}. Nothing was changed. Pass {real} itself if you "
            "want to use that directory, or remove the link."
        )
    return real


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise Misconfigured("There is no home directory for the cache. Set SKILLSITE_CACHE or --cache.") from error
