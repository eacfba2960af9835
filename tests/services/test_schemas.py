"""The stored schemas are those that the code generates."""

import json

import pytest

from registry.services import schemas

STALE = "registry/schemas/ does not match the code. Run `make schemas` and commit the files."


def test_the_stored_schemas_match_the_code() -> None:
    stored = {name: content.decode() for name, content in schemas.stored().items()}
    assert stored == schemas.generated(), STALE


@pytest.mark.parametrize("name", schemas.generated())
def test_a_schema_is_sorted_and_names_its_file(name: str) -> None:
    text = schemas.generated()[name]
    value = json.loads(text)
    assert text == json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert value["$id"] == name
    assert schemas.title(text.encode())
