"""HTTP failures and invalid settings that need no real site."""

import json
from collections.abc import Iterator

import pytest

from registry.client import Retrying, SkillsiteClient, errors
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


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"\xff", b'{"detail": 5, "code": []}'])
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
