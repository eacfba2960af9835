"""The JSON Schemas of the files that people write. They are generated from the code and kept beside it.

`manage.py write_schemas` writes them, and a test compares the stored ones with the code.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from registry.core.format import manifest_schema
from registry.core.routing import golden_schema
from registry.core.workflows import capability_schema, workflow_schema

DIRECTORY = Path(__file__).resolve().parent.parent / "schemas"


def generated() -> dict[str, str]:
    """Return the text of each schema by its file name, as the code describes it now."""
    return {
        manifest_schema.FILE: _written(manifest_schema.schema()),
        golden_schema.FILE: _written(golden_schema.schema()),
        workflow_schema.FILE: _written(workflow_schema.schema()),
        capability_schema.FILE: _written(capability_schema.schema()),
    }


def write() -> list[Path]:
    """Write each schema and delete the others. Return the files."""
    DIRECTORY.mkdir(exist_ok=True)
    texts = generated()
    for path in DIRECTORY.glob("*.json"):
        if path.name not in texts:
            path.unlink()
    paths = [DIRECTORY / name for name in sorted(texts)]
    for path in paths:
        path.write_text(texts[path.name], encoding="utf-8")
    return paths


@lru_cache(maxsize=1)
def stored() -> dict[str, bytes]:
    """Return the content of each stored schema by its file name."""
    return {path.name: path.read_bytes() for path in sorted(DIRECTORY.glob("*.json"))}


def title(content: bytes) -> str:
    return str(json.loads(content)["title"])


def _written(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
