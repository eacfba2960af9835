"""A site that fails, hangs or sends invalid responses, over real sockets."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from registry.client import Retrying, SkillsiteClient, errors
from tests.client.between import Between, Reply, times
from tests.client.conftest import Connect
from tests.conftest import on_disk
from tests.core.hostile import READ_ELSEWHERE

Forward = Callable[[], Reply]


@pytest.fixture(autouse=True)
def a_skill(library: Path) -> None:
    on_disk(library, "greeting", {"references/tone.md": b"Kind.\n"})


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_temporary_failure_is_retried(
    client: SkillsiteClient, site: Between, waits: list[float], status: int
) -> None:
    site.fault = times(2, Reply(status))
    assert client.catalog().skills
    assert waits == [0.5, 1.0]
    assert client.stats.retries == 2


def test_429_waits_for_retry_after(client: SkillsiteClient, site: Between, waits: list[float]) -> None:
    site.fault = times(1, Reply(429, headers={"Retry-After": "7"}))
    assert client.catalog().skills
    assert waits == [7.5]


def test_retry_after_can_be_a_date(connect: Connect, site: Between, waits: list[float]) -> None:
    now = datetime(2031, 5, 1, 12, 0, tzinfo=UTC)
    retrying = Retrying(sleep=waits.append, chance=lambda: 0.0, now=lambda: now)
    site.fault = times(1, Reply(503, headers={"Retry-After": format_datetime(now.replace(second=20), usegmt=True)}))
    assert connect(retrying=retrying).catalog().skills
    assert waits == [20.0]


@pytest.mark.parametrize("header", ["soon", "-5", "1e9", "9" * 40, "Fri, 99 Foo 2031"])
def test_an_unreasonable_retry_after_does_not_block(
    client: SkillsiteClient, site: Between, waits: list[float], header: str
) -> None:
    site.fault = times(1, Reply(429, headers={"Retry-After": header}))
    try:
        assert client.catalog().skills
    except errors.RateLimited:
        assert not waits
    assert sum(waits) < 2


def test_the_rate_limit_of_the_site_is_respected(connect: Connect, waits: list[float], settings: Any) -> None:
    settings.RATE_LIMIT_READ = 2
    client = connect(attempts=2)
    client.catalog()
    client.catalog()
    with pytest.raises(errors.RateLimited, match="a minute are allowed"):
        client.catalog()
    assert len(waits) == 1 and 1 <= waits[0] <= 62


def test_an_incomplete_response_is_retried(client: SkillsiteClient, site: Between) -> None:
    cut = [True, True]

    def break_off(between: Between, path: str, forward: Forward) -> Reply | None:
        if not cut:
            return None
        cut.pop()
        whole = forward()
        return Reply(200, whole.body, whole.headers, cut=len(whole.body) // 2)

    site.fault = break_off
    assert client.bundle("greeting")["references/tone.md"] == b"Kind.\n"
    assert client.stats.retries == 2


def changing(part: str, change: Callable[[bytes], bytes]) -> Callable[[Between, str, Forward], Reply | None]:
    """Forward requests, and change the responses of paths that contain `part`."""

    def fault(between: Between, path: str, forward: Forward) -> Reply | None:
        if part not in path:
            return None
        answer = forward()
        return Reply(200, change(answer.body), answer.headers) if answer.status == 200 else answer

    return fault


def rezipped(change: Callable[[dict[str, bytes]], dict[str, bytes]]) -> Callable[[bytes], bytes]:
    def rezip(data: bytes) -> bytes:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, content in change(files).items():
                archive.writestr(name, content)
        return out.getvalue()

    return rezip


@pytest.mark.parametrize(
    "change",
    [
        lambda files: files | {"references/tone.md": b"Rude.\n"},
        lambda files: files | {"extra.md": b""},
        lambda files: {"SKILL.md": files["SKILL.md"]},
        lambda files: {**files, "references/tone2.md": files["references/tone.md"]},
    ],
)
def test_a_bundle_with_another_digest_is_refused(
    client: SkillsiteClient, site: Between, cache: Path, change: Any
) -> None:
    site.fault = changing("bundle.zip", rezipped(change))
    with pytest.raises(errors.Untrustworthy, match="instead of"):
        client.bundle("greeting")
    assert not (cache / "skills").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: b"no zip at all",
        lambda data: data[:-10],
        rezipped(lambda files: files | {"../outside.md": b"x"}),
        rezipped(lambda files: files | {"/etc/cron.d/x": b"x"}),
        rezipped(lambda files: files | {"skill.MD": b"x"}),
        rezipped(lambda files: {"README.md": b"no skill"}),
        *(rezipped(lambda files, path=path: files | {path: b"x"}) for path in READ_ELSEWHERE),
    ],
)
def test_a_bundle_that_is_hostile_or_damaged_is_refused(
    client: SkillsiteClient, site: Between, tmp_path: Path, change: Any
) -> None:
    site.fault = changing("bundle.zip", change)
    with pytest.raises(errors.Untrustworthy, match="is invalid"):
        client.bundle("greeting")
    assert not list(tmp_path.rglob("outside.md"))


def test_a_file_with_another_digest_is_refused(client: SkillsiteClient, site: Between) -> None:
    site.fault = changing("/files/", lambda data: b"Rude.\n")
    with pytest.raises(errors.Untrustworthy, match="instead of"):
        client.file("greeting", "references/tone.md")


def test_a_file_longer_than_listed_is_not_read_completely(client: SkillsiteClient, site: Between) -> None:
    site.fault = changing("/files/", lambda data: data * 1_000_000)
    with pytest.raises(errors.Untrustworthy, match="allowed 6 bytes"):
        client.file("greeting", "references/tone.md")
    assert client.stats.received < 2_000_000


@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "br", "nonsense"])
def test_a_compressed_response_is_refused(client: SkillsiteClient, site: Between, encoding: str) -> None:
    site.fault = lambda *_: Reply(200, gzip.compress(gzip.compress(bytes(10_000_000))), {"Content-Encoding": encoding})
    with pytest.raises(errors.Untrustworthy, match="unexpected encoding"):
        client.effective()
    assert client.stats.received < 1_000


def test_a_compressed_error_response_keeps_its_status(client: SkillsiteClient, site: Between) -> None:
    site.fault = lambda *_: Reply(401, gzip.compress(b"{}"), {"Content-Encoding": "gzip"})
    with pytest.raises(errors.NotAllowed, match="status 401"):
        client.effective()


def test_a_slow_response_is_aborted(client: SkillsiteClient, site: Between, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.client.http._MAX_RESPONSE_SECONDS", 0.05)
    site.fault = lambda *_: Reply(200, b" " * 250, slow=True)
    with pytest.raises(errors.Untrustworthy, match="took over"):
        client.effective()
    assert client.stats.received < 250


def edited(**fields: Any) -> Callable[[bytes], bytes]:
    return lambda data: json.dumps({**json.loads(data), **fields}).encode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edited(digest=f"sha256:{'0' * 64}"), "instead of"),
        (edited(files=[]), "instead of"),
        (edited(name="another"), "returned another skill"),
        (edited(instructions=None), "instructions"),
        (edited(files=[{"path": "SKILL.md"}]), "size"),
        (edited(requires="all"), "requires"),
    ],
)
def test_an_inconsistent_skill_is_refused(client: SkillsiteClient, site: Between, change: Any, said: str) -> None:
    site.fault = changing("/skills/greeting", change)
    with pytest.raises(errors.Untrustworthy, match=said):
        client.read("greeting")


def test_a_refused_response_is_not_cached(connect: Connect, site: Between) -> None:
    asks: list[tuple[str, Callable[[SkillsiteClient], Any]]] = [
        ("/catalog", lambda client: client.catalog()),
        ("/effective", lambda client: client.effective()),
        ("/skills/greeting", lambda client: client.read("greeting")),
        ("/files/", lambda client: client.file("greeting", "references/tone.md")),
    ]
    for part, ask in asks:
        site.fault = changing(part, lambda data: b"{}")
        with pytest.raises(errors.Untrustworthy):
            ask(connect())
        site.fault = lambda *_: None
        assert not ask(connect()).from_cache


@pytest.mark.parametrize("next_page", ["http://elsewhere.example/x", "/api/v1/projects/other/effective?offset=1", "/"])
def test_a_next_page_at_another_address_is_refused(client: SkillsiteClient, site: Between, next_page: str) -> None:
    site.fault = changing("/effective", edited(next=next_page))
    with pytest.raises(errors.Untrustworthy, match="unexpected address"):
        client.effective()
    assert len(site.requests) == 1


def test_an_endless_list_is_aborted(client: SkillsiteClient, site: Between, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.client.client._MOST_PAGES", 3)
    site.fault = changing("/effective", edited(next="/api/v1/projects/demo/effective?offset=0&limit=1"))
    with pytest.raises(errors.Untrustworthy, match="pages"):
        client.effective()
    assert len(site.requests) == 3
