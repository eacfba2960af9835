"""The address of a skill, and the text of its pages."""

from pathlib import Path
from typing import Any

from registry.services.catalog import built_in
from tests.conftest import on_disk

HERE = "/projects/demo/skills/greeting/"


def text(response: Any) -> str:
    assert response.status_code == 200, response.status_code
    return str(response.content.decode())


def bundled(library: Path, **more: Any) -> None:
    on_disk(library, **more)
    built_in.index().refresh()
