"""Directories on this machine: the cache, and those that agents read skills from."""

import os
from pathlib import Path

from registry.client.errors import Misconfigured

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
    """Return `directory`, or the directory below it that the agent reads."""
    root = Path(directory).expanduser()
    return root / DIRECTORIES[agent] if agent else root


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise Misconfigured("There is no home directory for the cache. Set SKILLSITE_CACHE or --cache.") from error
