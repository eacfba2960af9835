"""HTTP failures and invalid settings that need no real site."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.client import Retrying, SkillsiteClient, errors
from registry.client.http_cache import CachedResponse, HttpCache
from registry.client.settings import connect as connect_from
from registry.core.bundle import content_digest
from tests.client.between import Between, Reply, between, times
from tests.client.conftest import Connect


@pytest.fixture
def site() -> Iterator[Between]:
    with between("http://127.0.0.1:1") as server:
        yield server


@pytest.fixture
def token() -> str:
    return "sks_of-no-site"


def test_the_number_of_retries_is_limited(client: SkillsiteClient, site: Between, waits: list[float]) -> None:
    site.fault = times(99, Reply(503))
    with pytest.raises(errors.Unreachable, match="503"):
        client.catalog()
    assert (len(site.requests), waits) == (4, [0.5, 1.0, 2.0])


def test_delays_have_jitter_and_a_maximum() -> None:
    waits: list[float] = []
    retrying = Retrying(attempts=20, sleep=waits.append, chance=lambda: 0.5)
    assert all(retrying.pause(attempt) for attempt in range(1, 12))
    assert waits[:5] == [0.25, 0.5, 1.0, 2.0, 4.0] and max(waits) == 4.0


@pytest.mark.parametrize("status", [500, 501, 507])
def test_a_500_is_not_retried(client: SkillsiteClient, site: Between, waits: list[float], status: int) -> None:
    site.fault = times(99, Reply(status, b"<html>Traceback"))
    with pytest.raises(errors.Untrustworthy, match=f"status {status}") as caught:
        client.catalog()
    assert len(site.requests) == 1 and not waits and "Traceback" not in str(caught.value)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 415, 422, 428])
def test_a_refusal_is_not_retried(client: SkillsiteClient, site: Between, status: int) -> None:
    problem = {"code": "some-code", "detail": "Not like this.", "findings": [{"rule": "r"}, "nonsense"]}
    site.fault = times(99, Reply(status, json.dumps(problem).encode()))
    with pytest.raises(errors.Refused, match="Not like this") as caught:
        client.catalog()
    assert (caught.value.status, caught.value.code) == (status, "some-code")
    assert caught.value.findings == [{"rule": "r"}]
    assert len(site.requests) == 1


_DEEP = (b"[" * 100_000, b'{"a":' * 100_000, b'{"skills": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}")
_UNUSABLE = (*_DEEP, b"NaN", b'{"tokens": 1e999}', b'{"tokens": ' + b"9" * 5_000 + b"}", b'{"name": "\\ud800"}')


@pytest.mark.parametrize("body", _UNUSABLE)
def test_a_response_that_cannot_be_parsed_is_an_error(client: SkillsiteClient, site: Between, body: bytes) -> None:
    site.fault = times(99, Reply(200, body))
    for act in (client.catalog, client.effective, lambda: client.read("own"), lambda: client.get_proposal(1)):
        with pytest.raises(errors.Untrustworthy, match="not JSON"):
            act()
    with pytest.raises(errors.Untrustworthy, match="not JSON"):
        client.propose("own", justification="x", skill_md="x")


@pytest.mark.parametrize("header", ["Fri, 01 Jan 99999999999999999999 00:00:00 GMT", "9" * 5_000])
def test_an_impossible_retry_after_is_ignored_or_raised(client: SkillsiteClient, site: Between, header: str) -> None:
    site.fault = times(99, Reply(429, headers={"Retry-After": header}))
    with pytest.raises(errors.RateLimited):
        client.catalog()


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"\xff", b'{"detail": 5, "code": []}', *_UNUSABLE])
def test_a_refusal_without_a_reason_names_its_status(client: SkillsiteClient, site: Between, body: bytes) -> None:
    site.fault = times(1, Reply(403, body))
    with pytest.raises(errors.NotAllowed, match="status 403"):
        client.catalog()


def test_a_long_retry_after_is_raised_instead_of_waiting(
    client: SkillsiteClient, site: Between, waits: list[float]
) -> None:
    site.fault = times(1, Reply(429, headers={"Retry-After": "3600"}))
    with pytest.raises(errors.RateLimited) as caught:
        client.catalog()
    assert caught.value.retry_after == 3600 and not waits


def test_a_request_times_out(connect: Connect, site: Between) -> None:
    site.fault = times(99, Reply(hang=True))
    with pytest.raises(errors.Unreachable, match="timed out"):
        connect(timeout=0.05, attempts=2).catalog()
    assert len(site.requests) == 2


def test_a_response_that_is_always_incomplete_is_an_error(client: SkillsiteClient, site: Between) -> None:
    site.fault = times(99, Reply(200, b'{"skills": []}', cut=5))
    with pytest.raises(errors.Unreachable, match="closed before"):
        client.catalog()


def test_a_redirect_never_gets_the_token(client: SkillsiteClient, site: Between) -> None:
    site.fault = times(99, Reply(302, headers={"Location": f"{site.url}/elsewhere"}))
    with pytest.raises(errors.Misconfigured, match="redirect"):
        client.catalog()
    assert len(site.requests) == 1


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"null", b"{}", b'{"skills": [1], "omitted": [], "tokens": 1, "revision": "1"}',
     b'{"skills": [], "omitted": [7], "tokens": 1, "revision": "1"}',
     b'{"skills": [], "omitted": [], "tokens": true, "revision": "1"}', b"\xff\xfe"],
)  # fmt: skip
def test_a_response_with_another_structure_is_refused(client: SkillsiteClient, site: Between, body: bytes) -> None:
    site.fault = times(1, Reply(200, body))
    with pytest.raises(errors.Untrustworthy, match="Skillsite"):
        client.catalog()


def test_a_304_without_an_etag_is_refused(client: SkillsiteClient, site: Between) -> None:
    site.fault = times(1, Reply(304))
    with pytest.raises(errors.Untrustworthy, match="without an ETag"):
        client.catalog()


@pytest.mark.parametrize("name", ["", "  ", ".", ".."])
def test_a_name_that_would_change_the_path_is_refused(client: SkillsiteClient, site: Between, name: str) -> None:
    with pytest.raises(errors.Misconfigured):
        client.read(name)
    assert not site.requests


@pytest.mark.parametrize(
    "url",
    ["", "localhost", "ftp://host", "http://", "http://user:secret@host", "http://h?x=1", "http://h#x", "http://h:x"],
)
def test_an_invalid_address_is_refused_without_repeating_it(connect: Connect, url: str) -> None:
    with pytest.raises(errors.Misconfigured) as caught:
        connect(url=url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("token", ["", "two words", "line\nend", "umläut", "\x00"])
def test_an_invalid_token_is_refused_without_repeating_it(connect: Connect, token: str) -> None:
    with pytest.raises(errors.Misconfigured) as caught:
        connect(token=token)
    assert not token or token not in str(caught.value)


def test_offline_without_a_cached_response_is_an_error(connect: Connect, site: Between) -> None:
    offline = connect(offline=True)
    for ask in (offline.catalog, offline.effective, lambda: offline.read("greeting")):
        with pytest.raises(errors.NotCached, match="offline"):
            ask()
    with pytest.raises(errors.NotCached, match="Nothing was sent"):
        offline.propose("greeting", justification="Because.", skill_md="x")
    assert not site.requests


def test_a_refused_connection_is_unreachable(connect: Connect, waits: list[float]) -> None:
    with pytest.raises(errors.Unreachable, match="Could not reach"):
        connect(url="http://127.0.0.1:1").catalog()
    assert len(waits) == 3


@pytest.mark.parametrize(
    "address",
    [
        "http://skills.example.org",
        "http://10.0.0.1:8000",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org",
        "http://[::ffff:10.0.0.1]",
        "http://0.0.0.0:8000",
        "HTTP://skills.example.org",
    ],
)
def test_a_token_is_not_sent_unencrypted_to_another_machine(address: str, tmp_path: Path) -> None:
    with pytest.raises(errors.Misconfigured, match="--allow-http"):
        SkillsiteClient(address, "demo", "sks_x", cache_dir=tmp_path)
    with SkillsiteClient(address, "demo", "sks_x", cache_dir=tmp_path, allow_http=True) as client:
        assert client.url


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "localhost.", "127.0.0.1", "127.9.8.7:80", "[::1]:8000"]
)
def test_this_machine_needs_no_encryption(host: str, tmp_path: Path) -> None:
    with SkillsiteClient(f"http://{host}", "demo", "sks_x", cache_dir=tmp_path) as client:
        assert client.url == f"http://{host}"


def test_http_is_allowed_by_the_environment(tmp_path: Path) -> None:
    given = {"SKILLSITE_URL": "http://skills.example.org", "SKILLSITE_PROJECT": "demo", "SKILLSITE_TOKEN": "sks_x"}
    given["SKILLSITE_CACHE"] = str(tmp_path)
    for value in ("", "0", "off", "no"):
        with pytest.raises(errors.Misconfigured, match="unencrypted"):
            connect_from(environment={**given, "SKILLSITE_ALLOW_HTTP": value})
    with pytest.raises(errors.Misconfigured, match="SKILLSITE_ALLOW_HTTP is 'perhaps'"):
        connect_from(environment={**given, "SKILLSITE_ALLOW_HTTP": "perhaps"})
    connect_from(environment={**given, "SKILLSITE_ALLOW_HTTP": "1"}).close()
    connect_from(environment=given, allow_http=True).close()


def test_a_response_in_a_shared_cache_cannot_be_forged(tmp_path: Path) -> None:
    """The owner of a shared directory can write anything there, but does not know the token."""
    cache = HttpCache(tmp_path, origin="https://skills.example.org/projects/demo", token="sks_x")
    cache.put("catalog", CachedResponse('"1"', b"Original."))
    assert cache.get("catalog") == CachedResponse('"1"', b"Original.")
    (stored,) = (path for path in tmp_path.rglob("*") if path.is_file())
    good = stored.read_bytes()
    forged = {"etag": '"1"', "sha256": content_digest(b"Forged."), "hmac": content_digest(b"Forged.")}
    for content in (
        json.dumps(forged).encode() + b"\nForged.",
        good.replace(b"Original.", b"Forged."),
        good.replace(b'\\"1\\"', b'\\"2\\"'),
        b"[" * 100_000,
        b'{"etag": [], "hmac": 5}\n',
    ):
        assert content != good
        stored.write_bytes(content)
        assert cache.get("catalog") is None
