"""The results of a pull: its steps, its lock and the directory."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from registry.client.lock import NAME as LOCK

Save = Callable[..., str]


def lock_of(target: Path) -> Any:
    return json.loads((target / LOCK).read_text())


def names_in(target: Path) -> list[str]:
    return sorted(path.name for path in target.iterdir())


def said(steps: Any) -> list[str]:
    return [str(step) for step in steps]
