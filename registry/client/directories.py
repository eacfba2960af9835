"""Where things are on this machine: the cache, and the directories that agents read skills from."""

import os
from pathlib import Path

from registry.client.errors import Misconfigured

# Below the directory of a project. Cursor reads the common directory as well as its own.
DIRECTORIES = {
    "claude-code": ".claude/skills",
    "cursor": ".agents/skills",
    "codex": ".agents/skills",
    "agents": ".agents/skills",
}
_SHARED = Path("/data")


def cache_root(given: str | Path | None) -> Path:
    """The argument, then PERSISTENT_VOLUME_STORAGE, then /data where that can be written, then the user's cache."""
    if given:
        return Path(given).expanduser().absolute()
    if volume := os.environ.get("PERSISTENT_VOLUME_STORAGE"):
        return Path(volume).absolute()
    if _SHARED.is_dir() and os.access(_SHARED, os.W_OK | os.X_OK):
        return _SHARED
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if Path(named).is_absolute() else _home() / ".cache") / "skillsite"


def skills_directory(directory: str | Path, agent: str | None) -> Path:
    """`directory` itself, or the one below it that the named agent reads."""
    root = Path(directory).expanduser()
    return root / DIRECTORIES[agent] if agent else root


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise Misconfigured("There is no home directory for the cache. Name a directory for it.") from error
