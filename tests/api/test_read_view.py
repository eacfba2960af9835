"""Behaviour of every read: ETags, 304, HEAD, paging, and permissions."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import transaction

from registry.lib import lru
from registry.models import Project
from registry.services.catalog import built_in, catalog
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.api.contract import problem
from tests.api.operations import READS
from tests.conftest import Api, on_disk, skill_bundle
from tests.prepared import create_skill, delete_skill, disable_skill, import_bundle, save_skill
from tests.services.footprint import nothing_left_behind


@pytest.fixture
def bot(full: Project, api: Callable[..., Api]) -> Api:
    return api("read", "write")


# -- ETag, 304, HEAD ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", READS)
def test_a_read_has_an_etag_that_answers_304(bot: Api, path: str) -> None:
    whole = bot.get(path)
    assert whole.status_code == 200, whole.content
    assert whole["ETag"].startswith('"')
    assert {"Authorization", "Accept"} <= {word.strip() for word in whole["Vary"].split(",")}
    assert whole["Cache-Control"] == "private, no-cache"
    again = bot.get(path, headers={"If-None-Match": whole["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", whole["ETag"])
    assert "Content-Type" not in again
    assert again["Vary"] == whole["Vary"]


@pytest.mark.parametrize("path", ["/catalog", "/skills/greeting", "/effective"])
def test_an_etag_from_before_an_upgrade_that_changed_answers_does_not_match(
    bot: Api, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(catalog, "ANSWERS", catalog.ANSWERS - 1)
        etag = bot.get(path)["ETag"]
    assert bot.get(path, headers={"If-None-Match": etag}).status_code == 200


@pytest.mark.parametrize("given", ['"other", {}', "W/{}", "{}, W/{}", '"a","b",{}'])
def test_any_of_several_etags_may_match(bot: Api, given: str) -> None:
    etag = bot.get("/catalog")["ETag"]
    assert bot.get("/catalog", headers={"If-None-Match": given.replace("{}", etag)}).status_code == 304


@pytest.mark.parametrize("given", ['"other"', "nonsense", '""', "W/", '"'])
def test_an_etag_that_does_not_match_gets_the_full_answer(bot: Api, given: str) -> None:
    assert bot.get("/catalog", headers={"If-None-Match": given}).status_code == 200


@pytest.mark.parametrize("path", READS)
def test_head_returns_the_headers_without_the_body(bot: Api, path: str) -> None:
    whole = bot.get(path)
    head = bot.client.head(f"{bot.base}{path}", headers=bot.headers)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("ETag", "Content-Type", "Content-Length", "Vary"):
        assert head[name] == whole[name]


def test_the_etag_changes_with_every_visible_change(bot: Api, full: Project, operator: Actor) -> None:
    seen = [bot.get("/catalog")["ETag"]]
    for change in (
        lambda: disable_skill(full, "greeting", by=operator),
        lambda: skills.enable(full, "greeting", by=operator),
        lambda: delete_skill(full, "greeting", by=operator),
        lambda: create_skill(full, skill_bundle("second"), by=operator),
    ):
        change()
        seen.append(bot.get("/catalog")["ETag"])
    assert len(set(seen)) == len(seen)


def test_the_etag_changes_with_the_directories(bot: Api, library: Path) -> None:
    before = bot.get("/catalog")["ETag"]
    on_disk(library, "late")
    built_in.index().refresh()
    after = bot.get("/catalog", headers={"If-None-Match": before})
    assert after.status_code == 200
    assert "late" in [skill["name"] for skill in after.json()["skills"]]


def test_different_requests_have_different_etags(bot: Api) -> None:
    etags = [bot.get(path)["ETag"] for path in READS]
    etags += [bot.get("/catalog", headers={"Accept": kind})["ETag"] for kind in ("text/plain", "application/xml")]
    assert len(set(etags)) == len(etags)


def test_projects_do_not_share_etags(
    bot: Api, other_project: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    other = api("read", where=other_project)
    assert other.get("/catalog")["ETag"] != bot.get("/catalog")["ETag"]
    assert "greeting" not in other.get("/catalog").content.decode()


def test_errors_must_not_be_cached(bot: Api) -> None:
    missing = bot.get("/skills/nothing")
    problem(missing, 404, "not-found")
    assert "ETag" not in missing


# -- Paging ------------------------------------------------------------------------------------------------


def test_a_list_is_paged_by_next_links(bot: Api, full: Project, operator: Actor) -> None:
    for number in range(5):
        create_skill(full, skill_bundle(f"skill-{number}"), by=operator)
    names, link = [], "/effective?limit=3"
    while link:
        page = bot.get(link).json()
        assert set(page) == {"results", "next"}
        assert len(page["results"]) <= 3
        names += [row["name"] for row in page["results"]]
        link = page["next"].removeprefix(bot.base) if page["next"] else ""
    assert names == ["bundled-one", "greeting", *(f"skill-{number}" for number in range(5))]


@pytest.mark.parametrize("path", ["/effective", "/diagnostics", "/skills/greeting/versions"])
def test_a_page_past_the_end_is_empty(bot: Api, path: str) -> None:
    assert bot.get(path, offset="1000").json() == {"results": [], "next": None}


def test_the_next_link_can_be_followed_unchanged(full: Project, operator: Actor, bot: Api) -> None:

    for body in ("One.", "Two."):
        import_bundle(full, skill_bundle("été & co", body=body), by=operator)
    link = bot.get("/skills/été%20&%20co/versions", limit="1").json()["next"]
    assert link.isascii()
    assert " " not in link
    assert bot.get(link.removeprefix(bot.base)).json()["results"][0]["version"] == "1"


@pytest.mark.parametrize("name", ["limit", "offset"])
@pytest.mark.parametrize("value", ["-1", "x", "1.5", "1e3", "9" * 30, "9" * 5_000, " 1", "½", "1001" * 3])
def test_an_invalid_page_is_refused(bot: Api, name: str, value: str) -> None:
    body = problem(bot.get("/effective", **{name: value}), 400, "invalid-request")
    assert body["detail"].startswith(f"{name} is a whole number")


@pytest.mark.parametrize("value", ["0", "1001"])
def test_a_page_has_1_to_1000_rows(bot: Api, value: str) -> None:
    problem(bot.get("/effective", limit=value), 400, "invalid-request")


# -- Invalid requests --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/catalog", {"GET"}),
        ("DELETE", "/effective", {"GET"}),
        ("PUT", "/diagnostics", {"GET"}),
        ("PATCH", "/skills/greeting", {"GET", "PUT", "DELETE"}),
        ("POST", "/skills/greeting", {"GET", "PUT", "DELETE"}),
        ("PUT", "/skills/greeting/files/a.txt", {"GET"}),
        ("DELETE", "/skills/greeting/bundle.zip", {"GET"}),
        ("GET", "/skills", {"POST"}),
        ("GET", "/bundles", {"POST"}),
        ("GET", "/skills/greeting/versions/1/yank", {"POST"}),
        ("DELETE", "/skills/greeting/versions", {"GET"}),
    ],
)
def test_an_unsupported_method_is_refused_with_the_allowed_ones(
    bot: Api, method: str, path: str, allowed: set[str]
) -> None:
    with nothing_left_behind():
        response = bot.send(method, path)
    problem(response, 405, "method-not-allowed")
    assert allowed <= set(response["Allow"].split(", "))
    assert method not in response["Allow"].split(", ")


@pytest.mark.parametrize(
    "path", ["/", "/nothing", "/skills/greeting/nothing", "/skills/greeting/files/", "/skills/a/versions/1/2/3"]
)
def test_an_unknown_path_answers_with_a_problem(bot: Api, path: str) -> None:
    problem(bot.get(path), 404, "not-found")


@pytest.mark.parametrize("path", ["/skills/a%00b", "/catalog?q=%00", "/skills/greeting/files/a%00b"])
def test_a_nul_in_the_address_is_refused(bot: Api, path: str) -> None:
    problem(bot.client.get(f"{bot.base}{path}", headers=bot.headers), 400, "invalid-request")


@pytest.mark.parametrize("path", ["/skills/%ff%fe", "/skills/%ED%A0%80", "/catalog?q=%ff", "/skills/" + "x" * 3_000])
def test_a_path_that_is_not_utf8_is_answered_like_any_other(bot: Api, path: str) -> None:
    response = bot.client.get(f"{bot.base}{path}", headers=bot.headers)
    assert response.status_code in (200, 400, 404)


def test_an_unknown_accept_header_still_gets_an_answer(bot: Api) -> None:
    for accept in ("text/html", "image/png", "nonsense", "*/*;q=0", "application/xml;q=0.1,*/*"):
        assert bot.get("/skills/greeting", headers={"Accept": accept}).status_code == 200


@contextmanager
def undone_by_a_restored_backup() -> Iterator[None]:
    """Undo the changes inside the block and clear the caches, like a restored backup and a restart."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    lru.clear_all()


@pytest.mark.parametrize("path", ["/catalog", "/effective", "/skills/greeting", "/skills/greeting/files/SKILL.md"])
def test_an_etag_from_before_a_restored_backup_does_not_match(
    bot: Api, full: Project, operator: Actor, path: str
) -> None:
    def save(word: str) -> int:
        bundle = skill_bundle(files={"a.txt": b"a"}, description=f"{word}. Use when somebody greets.", body=word)
        save_skill(full, "greeting", bundle, base=catalog.load(full.pk, "greeting").candidate.digest, by=operator)
        return Project.objects.get(pk=full.pk).revision

    with undone_by_a_restored_backup():
        first = save("One")
        lost = bot.get(path)
    assert save("Two") == first
    now = bot.get(path, headers={"If-None-Match": lost["ETag"]})
    assert now.status_code == 200
    assert now.content != lost.content
