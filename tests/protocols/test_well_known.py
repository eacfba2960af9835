"""Well-known discovery: digests, access, headers and rate limits."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from registry.core.bundle import SKILL_MD, Bundle
from registry.lib import lru
from registry.models import Project
from registry.services import throttle
from registry.services.catalog import usage
from registry.services.people import projects
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill, disable_skill, import_bundle
from tests.protocols.discovery import NEW, OLD, digest, names


@pytest.mark.parametrize("place", ["", "/projects/demo", "/projects/demo/skills"])
def test_downloads_match_the_digests_of_the_index(client: Client, public: Project, offers: Bundle, place: str) -> None:
    answer = client.get(f"{place}{NEW}/index.json")
    assert answer["Content-Type"] == "application/json"
    body = answer.json()
    assert body["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    by_name = {entry["name"]: entry for entry in body["skills"]}
    assert (by_name["greeting"]["type"], by_name["offers"]["type"]) == ("skill-md", "archive")
    for entry in by_name.values():
        assert digest(client.get(entry["url"]).content) == entry["digest"]
    with zipfile.ZipFile(io.BytesIO(client.get(by_name["offers"]["url"]).content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == dict(offers)


def test_a_client_of_version_0_1_gets_each_file(client: Client, public: Project, offers: Bundle) -> None:
    entry = client.get(f"{OLD}/index.json").json()["skills"][1]
    assert "$schema" not in client.get(f"{OLD}/index.json").json()
    assert set(entry["files"]) == set(offers)
    for path, content in offers.items():
        assert client.get(f"{OLD}/offers/{path.replace('%', '%25')}").content == content


def test_the_url_of_a_skill_has_an_index_of_that_skill_only(client: Client, public: Project) -> None:
    base = "/projects/demo/skills/greeting"
    assert names(client.get(f"{base}{NEW}/index.json")) == ["greeting"]
    assert names(client.get(f"{base}{OLD}/index.json")) == ["greeting"]
    assert client.get(f"{base}{NEW}/greeting/SKILL.md").status_code == 200
    assert client.get(f"{base}{NEW}/offers.zip").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        f"{NEW}/index.json", f"{NEW}/offers.zip", f"{NEW}/offers/SKILL.md", f"{OLD}/index.json",
        f"{OLD}/offers/SKILL.md",
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["/projects/demo", "/projects/demo/skills/offers", "/projects/absent"])
def test_a_private_project_is_not_found(client: Client, offers: Bundle, place: str, path: str) -> None:
    answer = client.get(f"{place}{path}")
    assert answer.status_code == 404
    assert b"offers" not in answer.content


def test_the_index_of_the_site_is_empty_until_a_project_is_public(
    client: Client, project: Project, offers: Bundle
) -> None:
    assert names(client.get(f"{NEW}/index.json")) == []
    assert client.get(f"{NEW}/offers.zip").status_code == 404


def test_a_project_that_becomes_private_is_not_found_at_once(client: Client, public: Project, operator: Actor) -> None:
    projects.set_public(public, False, by=operator)
    assert names(client.get(f"{NEW}/index.json")) == []
    assert client.get(f"/projects/demo{NEW}/offers.zip").status_code == 404


def test_an_archived_project_is_not_public(client: Client, public: Project, operator: Actor) -> None:
    projects.archive(public, by=operator)
    assert client.get(f"/projects/demo{NEW}/index.json").status_code == 404


def test_only_owners_make_a_project_public(client: Client, project: Project, offers: Bundle, author: Actor) -> None:
    from registry.core.errors import Forbidden

    with pytest.raises(Forbidden):
        projects.set_public(project, True, by=author)
    assert names(client.get(f"{NEW}/index.json")) == []


@pytest.mark.parametrize(
    "path",
    [
        f"{NEW}/absent.zip",
        f"{NEW}/absent/SKILL.md",
        f"{NEW}/offers/absent.md",
        f"{NEW}/offers/../greeting/SKILL.md",
        f"{NEW}/offers/%2e%2e/greeting/SKILL.md",
        f"{NEW}/offers/..%2f..%2fetc/passwd",
        f"{NEW}/offers//etc/passwd",
        f"{NEW}/offers/references\\terms.md",
        f"{NEW}/offers/references",
        f"{NEW}/%2e%2e.zip",
        f"{OLD}/offers/./SKILL.md",
        f"{OLD}/offers/references/../SKILL.md",
        f"{OLD}/offers.zip",
        f"{NEW}/",
    ],
)
def test_unknown_paths_are_not_found(client: Client, public: Project, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_nul_character_in_the_path_is_refused(client: Client, public: Project) -> None:
    assert client.get(f"{NEW}/offers/%00").status_code == 400


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
@pytest.mark.parametrize(
    "path", [f"{NEW}/index.json", f"{OLD}/offers/SKILL.md", "/.well-known/oauth-protected-resource"]
)
def test_other_methods_are_refused(public: Project, method: str, path: str) -> None:
    answer = getattr(Client(enforce_csrf_checks=True), method)(path)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, OPTIONS")


@pytest.mark.parametrize(
    "path", [f"{NEW}/index.json", f"{OLD}/offers/SKILL.md", "/t/sks_x/.well-known/skills/index.json"]
)
def test_a_cors_preflight_is_allowed(client: Client, public: Project, path: str) -> None:
    asked = {"Origin": "https://tools.example", "Access-Control-Request-Method": "GET"}
    answer = client.options(path, headers={**asked, "Access-Control-Request-Headers": "if-none-match"})
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer["Access-Control-Allow-Headers"] == "If-None-Match"
    assert "Access-Control-Allow-Credentials" not in answer


def test_cors_exposes_the_etag(client: Client, public: Project) -> None:
    answer = client.get(f"{NEW}/index.json", headers={"Origin": "https://tools.example"})
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert "ETag" in answer["Access-Control-Expose-Headers"]


@pytest.mark.parametrize(
    "path", ["", "/", "/nothing", "/projects/demo/", f"{NEW}/%00", f"{NEW}/absent.zip", f"{NEW}/index.json", "/mcp"]
)
@pytest.mark.parametrize("method", ["get", "post", "options"])
def test_responses_to_a_token_in_the_url_send_no_referrer_and_are_private(
    client: Client, offers: Bundle, secret: Callable[..., str], method: str, path: str
) -> None:
    client.raise_request_exception = False
    answer = getattr(client, method)(f"/t/{secret()}{path}")
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["Cache-Control"].startswith("private")


def test_head_has_the_headers_of_get(client: Client, public: Project) -> None:
    for path in (f"{NEW}/index.json", f"{NEW}/offers.zip", f"{NEW}/greeting/SKILL.md"):
        got, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert (head["ETag"], head["Content-Type"]) == (got["ETag"], got["Content-Type"])


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        (f"{NEW}/greeting/SKILL.md", "text/markdown; charset=utf-8"),
        (f"{NEW}/offers.zip", "application/zip"),
        (f"{OLD}/offers/references/deep/more.txt", "text/plain; charset=utf-8"),
        (f"{OLD}/offers/assets/bytes.bin", "application/octet-stream"),
    ],
)
def test_files_of_a_bundle_cannot_run_in_a_browser(
    client: Client, public: Project, path: str, content_type: str
) -> None:
    answer = client.get(path)
    assert answer["Content-Type"] == content_type
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer["Cache-Control"] == "public, max-age=60"
    assert "Content-Encoding" not in answer
    assert ("Content-Disposition" in answer) == (content_type == "application/octet-stream")


def test_an_unchanged_response_is_not_modified(client: Client, public: Project, operator: Actor) -> None:
    for path in (f"{NEW}/index.json", f"{OLD}/index.json", f"{NEW}/offers.zip", f"{NEW}/greeting/SKILL.md"):
        etag = client.get(path)["ETag"]
        again = client.get(path, headers={"If-None-Match": etag})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
    etag = client.get(f"{NEW}/index.json")["ETag"]
    disable_skill(public, "greeting", by=operator)
    assert client.get(f"{NEW}/index.json", headers={"If-None-Match": etag}).status_code == 200


def test_a_skill_that_clients_refuse_is_named_as_left_out(client: Client, public: Project, operator: Actor) -> None:
    header = f"---\nname: wordy\ndescription: {'word ' * 300}\n---\nBody.\n"
    import_bundle(public, Bundle({SKILL_MD: header.encode()}), by=operator)
    body = client.get(f"{NEW}/index.json").json()
    assert [entry["name"] for entry in body["skills"]] == ["greeting", "offers"]
    (left_out,) = body["x-left-out"]
    assert (left_out["name"], left_out["project"]) == ("wordy", "demo")
    assert "1,024 are allowed" in left_out["reason"]


def test_the_index_of_version_0_1_has_long_descriptions_and_names_omitted_skills(
    client: Client, public: Project, operator: Actor
) -> None:
    wordy = f"---\nname: wordy\ndescription: {'word ' * 300}\n---\nBody.\n"
    import_bundle(public, Bundle({SKILL_MD: wordy.encode()}), by=operator)
    import_bundle(public, skill_bundle("dotted", {"notes..md": b"x"}), by=operator)
    body = client.get(f"{OLD}/index.json").json()
    assert [entry["name"] for entry in body["skills"]] == ["greeting", "offers", "wordy"]
    (left_out,) = body["x-left-out"]
    assert left_out["name"] == "dotted"
    assert "notes..md" in left_out["reason"]
    assert "dotted" in names(client.get(f"{NEW}/index.json"))


@pytest.fixture
def one_minute(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Stop the clock, and allow three requests per minute."""
    monkeypatch.setattr(throttle.time, "time", lambda: 2_000_010.0)
    settings.RATE_LIMIT_PUBLIC = 3


def read(client: Client, address: str, path: str = f"{NEW}/index.json", **meta: str) -> Any:
    return client.get(path, REMOTE_ADDR=address, **meta)


@pytest.mark.parametrize(
    ("reader", "same", "other"),
    [
        ("198.51.100.1", "198.51.100.1", "198.51.100.2"),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"),
        ("198.51.100.3", "::ffff:198.51.100.3", "::ffff:198.51.100.4"),
        ("", "no address", "198.51.100.5"),
    ],
)
def test_public_reads_have_a_rate_limit_per_address(
    client: Client, public: Project, one_minute: None, reader: str, same: str, other: str
) -> None:
    for path in (f"{NEW}/index.json", f"{OLD}/index.json", f"/projects/demo{NEW}/offers.zip"):
        assert read(client, reader, path).status_code == 200
    refused = read(client, same)
    assert refused.status_code == 429
    assert "3 requests a minute are allowed for your address" in refused.content.decode()
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert refused["Cache-Control"] == "no-store"
    assert read(client, same, "/projects/nothing" + f"{NEW}/index.json").status_code == 429
    assert read(client, other).status_code == 200


def test_a_reader_cannot_forge_their_address(client: Client, public: Project, one_minute: None, settings: Any) -> None:
    for number in range(3):
        assert read(client, "198.51.100.6", HTTP_X_FORWARDED_FOR=f"203.0.113.{number}").status_code == 200
    assert read(client, "198.51.100.6", HTTP_X_FORWARDED_FOR="203.0.113.9").status_code == 429
    settings.BEHIND_PROXY = True
    assert read(client, "198.51.100.6", HTTP_X_FORWARDED_FOR="203.0.113.9").status_code == 200


def test_a_token_is_not_subject_to_the_limit_per_address(
    client: Client, public: Project, one_minute: None, secret: Callable[..., str]
) -> None:
    token = secret()
    for _ in range(5):
        assert read(client, "198.51.100.7", f"/t/{token}{NEW}/index.json").status_code == 200


def test_a_limit_of_zero_means_no_limit(client: Client, public: Project, one_minute: None, settings: Any) -> None:
    settings.RATE_LIMIT_PUBLIC = 0
    for _ in range(8):
        assert read(client, "198.51.100.8").status_code == 200


def test_public_downloads_are_counted(client: Client, public: Project) -> None:
    client.get(f"{NEW}/offers.zip")
    client.get(f"{NEW}/greeting/SKILL.md")
    client.head(f"{NEW}/greeting/SKILL.md")
    client.get(f"{NEW}/index.json")
    client.get(f"{OLD}/offers/references/terms.md")
    counted = {(load.skill, load.caller): number for load, number in usage._buffer.loads.items()}
    assert counted == {("offers", "anybody"): 1, ("greeting", "anybody"): 1}


def test_the_metadata_names_the_protected_resource(client: Client) -> None:
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        body = client.get(path).json()
        assert body["resource"] == "http://testserver/mcp"
        assert body["bearer_methods_supported"] == ["header"]
        assert json.dumps(body).find("sks_") == -1


@pytest.mark.parametrize("place", ["", "/projects/demo", "/t/{token}"])
def test_an_etag_from_before_a_restored_backup_never_matches_again(
    client: Client,
    public: Project,
    operator: Actor,
    secret: Callable[..., str],
    place: str,
) -> None:
    address = f"{place.format(token=secret())}{NEW}/index.json"
    with transaction.atomic():
        create_skill(public, skill_bundle("lost"), by=operator)
        lost = client.get(address)
        transaction.set_rollback(True)
    lru.clear_all()
    create_skill(public, skill_bundle("kept"), by=operator)
    now = client.get(address, headers={"If-None-Match": lost["ETag"]})
    assert (lost.status_code, now.status_code) == (200, 200)
    assert (names(lost)[1], names(now)[1]) == ("lost", "kept")
