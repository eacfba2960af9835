"""The rate limit of each token: headers, refusals with a waiting time, and counts shared through Redis."""

from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest
from django.core.cache import caches

from registry.models import Project
from registry.services import counters, throttle
from tests.api.contract import problem
from tests.conftest import Api, skill_text


@pytest.fixture
def bot(project: Project, api: Callable[..., Api]) -> Api:
    return api("read", "write")


def test_every_answer_shows_the_remaining_requests(bot: Api, settings: Any) -> None:
    settings.RATE_LIMIT_READ = 5
    for left in (4, 3):
        response = bot.get("/catalog")
        assert (response["RateLimit-Limit"], response["RateLimit-Remaining"]) == ("5", str(left))
        assert 1 <= int(response["RateLimit-Reset"]) <= 60


def test_a_request_over_the_limit_is_refused_with_a_waiting_time(bot: Api, settings: Any) -> None:
    settings.RATE_LIMIT_READ = 2
    for _ in range(2):
        assert bot.get("/catalog").status_code == 200
    for path in ("/catalog", "/skills/nothing", "/effective"):
        response = bot.get(path)
        body = problem(response, 429, "rate-limited")
        assert response["Retry-After"] == str(body["retry_after"])
        assert 1 <= body["retry_after"] <= 60
        assert "2 requests a minute" in body["detail"]
        assert (response["RateLimit-Limit"], response["RateLimit-Remaining"]) == ("2", "0")
        assert response["RateLimit-Reset"] == response["Retry-After"]


def test_the_count_restarts_each_minute(bot: Api, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMIT_READ = 1
    bot.get("/catalog")
    wait = int(bot.get("/catalog")["Retry-After"])
    later = throttle.time.time() + wait
    monkeypatch.setattr(throttle.time, "time", lambda: later)
    assert bot.get("/catalog").status_code == 200


def test_a_304_counts_too(bot: Api, settings: Any) -> None:
    settings.RATE_LIMIT_READ = 2
    etag = bot.get("/catalog")["ETag"]
    assert bot.get("/catalog", headers={"If-None-Match": etag})["RateLimit-Remaining"] == "0"
    problem(bot.get("/catalog", headers={"If-None-Match": etag}), 429, "rate-limited")


def test_reads_and_writes_are_counted_separately(bot: Api, settings: Any) -> None:
    settings.RATE_LIMIT_READ = settings.RATE_LIMIT_WRITE = 1
    assert bot.send("POST", "/skills", {"skill_md": skill_text()}).status_code == 201
    assert bot.get("/catalog").status_code == 200
    response = bot.send("POST", "/skills", {"skill_md": skill_text("second")})
    problem(response, 429, "rate-limited")
    assert response["RateLimit-Limit"] == "1"
    assert response["Retry-After"]


def test_a_refused_write_changes_nothing(bot: Api, settings: Any) -> None:
    settings.RATE_LIMIT_WRITE = 1
    bot.send("POST", "/skills", {"skill_md": skill_text()})
    problem(bot.send("DELETE", "/skills/greeting"), 429, "rate-limited")
    assert bot.get("/skills/greeting").status_code == 200


def test_every_token_has_its_own_count(bot: Api, settings: Any, api: Callable[..., Api]) -> None:
    settings.RATE_LIMIT_READ = 1
    bot.get("/catalog")
    assert api("read", agent="other").get("/catalog").status_code == 200
    assert api("read", agent="bot").get("/catalog").status_code == 200


def test_zero_turns_the_limit_off(bot: Api, settings: Any) -> None:
    settings.RATE_LIMIT_READ = settings.RATE_LIMIT_WRITE = 0
    for _ in range(20):
        response = bot.get("/catalog")
        assert response.status_code == 200
        assert "RateLimit-Limit" not in response
    assert "RateLimit-Limit" not in bot.send("POST", "/skills", {"skill_md": skill_text()})


def test_a_caller_without_a_token_is_not_counted(project: Project, settings: Any) -> None:
    settings.RATE_LIMIT_READ = 1
    for _ in range(3):
        problem(Api(project, "").get("/catalog"), 401, "unauthenticated")


# -- Redis -------------------------------------------------------------------------------------------------


@pytest.fixture
def redis(settings: Any) -> Iterator[Any]:
    """Serve a fake Redis over TCP and use it as the cache."""
    from fakeredis import TcpFakeServer  # takes long

    server = TcpFakeServer(("127.0.0.1", 0), server_type="redis")
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.001}, daemon=True).start()
    settings.CACHES = _redis_at(server.server_address[1])
    yield server
    caches["default"].close()
    server.shutdown()
    server.server_close()


def _redis_at(port: int) -> dict[str, dict[str, str]]:
    return {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": f"redis://127.0.0.1:{port}/0?protocol=2",
        }
    }


def test_with_redis_all_nodes_share_one_count(bot: Api, settings: Any, redis: Any) -> None:
    settings.RATE_LIMIT_READ = 3
    assert bot.get("/catalog")["RateLimit-Remaining"] == "2"
    settings.CACHES = _redis_at(redis.server_address[1])  # A second node has its own connections.
    assert bot.get("/catalog")["RateLimit-Remaining"] == "1"
    bot.get("/catalog")
    problem(bot.get("/catalog"), 429, "rate-limited")


def test_without_redis_each_process_counts_for_itself(
    bot: Api, settings: Any, caplog: pytest.LogCaptureFixture, unused_port: int
) -> None:
    settings.RATE_LIMIT_READ = 2
    settings.CACHES = _redis_at(unused_port)
    counters.clear_local()
    with caplog.at_level("WARNING", logger="registry"):
        for _ in range(2):
            assert bot.get("/catalog").status_code == 200
        problem(bot.get("/catalog"), 429, "rate-limited")
    assert "cannot be reached, so this process counts for itself" in caplog.text
    counters.clear_local()
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
