"""Anybody can read the schemas, and caches may keep them."""

import pytest
from django.test import Client

from registry.core.format import manifest_schema
from registry.services import schemas

ADDRESS = f"/schemas/{manifest_schema.FILE}"


@pytest.mark.parametrize("name", ["missing.schema.json", "..%2Fsettings.py", "skill-manifest.schema.json%00"])
def test_other_files_are_not_served(client: Client, db: None, name: str) -> None:
    assert client.get(f"/schemas/{name}").status_code in (400, 404)


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_a_schema_can_only_be_read(client: Client, db: None, method: str) -> None:
    assert getattr(client, method)(ADDRESS).status_code == 405


def test_a_schema_is_served_as_it_is_stored(client: Client, db: None) -> None:
    answer = client.get(ADDRESS)
    assert answer.content == schemas.stored()[manifest_schema.FILE]
    assert answer["Content-Type"] == "application/schema+json"
    assert answer["Cache-Control"] == "public, max-age=3600"
    assert answer["Access-Control-Allow-Origin"] == "*"


def test_a_cached_schema_is_not_sent_again(client: Client, db: None) -> None:
    tag = client.get(ADDRESS)["ETag"]
    answer = client.get(ADDRESS, headers={"If-None-Match": tag})
    assert (answer.status_code, answer.content) == (304, b"")


def test_the_list_names_every_schema(client: Client, db: None) -> None:
    page = client.get("/schemas/").content.decode()
    assert all(f'href="/schemas/{name}"' in page for name in schemas.generated())
