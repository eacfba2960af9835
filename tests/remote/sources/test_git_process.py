"""The git process: no redirects, no passwords, no configuration, and only checked addresses."""

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from registry.remote import sources
from registry.remote.sources import GIT, Failure, NotASource, Refused, RemoteSource, Unreachable, git_process
from tests.remote.sources.repositories import ONE, listed
from tests.remote.sources.servers import git_server, redirecting, repository
from tests.services.receivers import Receiver, answering, receiving

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("work")]


def by_git(handler: Any) -> bool:
    """Not the look that is taken before."""
    return str(handler.headers["User-Agent"]).startswith("git/2")


def test_no_redirect_is_followed(server: Receiver, root: Path) -> None:
    repository(root / "x.git", ONE)
    with receiving() as other:
        other.behave = git_server(other, root)
        away = redirecting(lambda path: other.url(path))
        server.behave = away
        with pytest.raises(NotASource, match="address redirects"):
            listed(server)
        serve = git_server(server, root)
        server.behave = lambda handler: (away if by_git(handler) else serve)(handler)
        with pytest.raises(NotASource):
            listed(server)
        assert other.got == []


@pytest.mark.parametrize(
    ("status", "error"),
    [(404, NotASource), (401, NotASource), (403, NotASource), (503, Unreachable), (429, Unreachable)],
)
def test_the_status_decides_between_unreachable_and_unusable(
    server: Receiver, status: int, error: type[Exception]
) -> None:
    server.behave = answering(status, **{"WWW-Authenticate": 'Basic realm="x"'})
    with pytest.raises(error):
        listed(server)


def test_git_never_prompts_for_a_password(server: Receiver, root: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """Not even where programs of ours would answer, and where the look before was welcome."""
    repository(root / "x.git", ONE)
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    helper = tmp_path / "answer"
    helper.write_text(f"#!/bin/sh\necho asked > {tmp_path}/asked\necho secret\n")
    helper.chmod(0o755)
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, str(helper))
    monkeypatch.setenv("HOME", str(tmp_path))
    serve, locked = server.behave, answering(401, **{"WWW-Authenticate": 'Basic realm="x"'})
    server.behave = lambda handler: (locked if by_git(handler) else serve)(handler)
    with pytest.raises(NotASource):
        listed(server)
    assert not any("authorization" in got.headers for got in server.got)
    assert not (tmp_path / "asked").exists()


def test_configuration_and_environment_of_ours_are_not_used(
    server: Receiver, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(root / "x.git", ONE)
    (tmp_path / ".gitconfig").write_text(
        f'[url "http://127.0.0.1:1/"]\n\tinsteadOf = http://{server.host}/\n[http]\n\tproxy = http://127.0.0.1:1\n'
        "\textraHeader = X-Secret: yes\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    changes = {"http_proxy": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1", "GIT_CONFIG_COUNT": "1",
               "GIT_CONFIG_KEY_0": "http.extraHeader", "GIT_CONFIG_VALUE_0": "X-Secret: yes", "GIT_TRACE": "1",
               "GIT_DIR": "/nowhere", "GIT_ALLOW_PROTOCOL": "ext"}  # fmt: skip
    for name, value in changes.items():
        monkeypatch.setenv(name, value)
    server.behave = git_server(server, root)
    for name in ("GIT_DIR", "GIT_CONFIG_COUNT"):
        assert name in os.environ
    assert [entry.name for entry in listed(server).entries] == ["a"]
    assert not any("x-secret" in got.headers for got in server.got)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
def test_a_private_address_is_refused_in_every_spelling(server: Receiver, host: str) -> None:
    for scheme in ("https", "http"):
        with pytest.raises((Refused, Unreachable)):
            sources.listing(RemoteSource(GIT, f"{scheme}://{host}:{server.port}/x.git"), allowed=frozenset())
    assert server.got == []


@pytest.mark.parametrize("address", ["ext::sh -c touch% gone", "file:///etc", "ssh://1.1.1.1/x.git", "git://1.1.1.1/x"])
def test_another_way_to_a_repository_is_refused(address: str) -> None:
    with pytest.raises((Refused, Unreachable)):
        sources.listing(RemoteSource(GIT, address), allowed=frozenset())


@pytest.mark.parametrize("host", ["skills.test", "SKILLS.test", "skills.test."])
def test_git_connects_to_the_checked_address(
    server: Receiver, root: Path, names: dict[str, list[str]], host: str
) -> None:
    """Only we know where the name leads, so git can only have it from us."""
    repository(root / "x.git", ONE)
    names |= {"skills.test": ["127.0.0.1"], "skills.test.": ["127.0.0.1"]}
    place = RemoteSource(GIT, f"http://{host}:{server.port}/x.git")
    assert [o.name for o in sources.listing(place, allowed=frozenset({"skills.test"})).entries] == ["a"]


def test_dns_rebinding_has_no_effect(names: dict[str, list[str]]) -> None:
    names["rebind.test"] = ["1.1.1.1", "127.0.0.1"]
    _, pin = git_process.pinned("https://rebind.test/x.git", frozenset())
    assert pin == "rebind.test:443:1.1.1.1"
    with pytest.raises(Unreachable, match="private network"):
        git_process.pinned("https://rebind.test/x.git", frozenset())


def test_git_gets_only_the_public_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ["10.0.0.1", "2606:4700::1111", "1.1.1.1", "::1"]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (address, 443)) for address in found])
    assert git_process.pinned("https://both.test/x", frozenset())[1] == "both.test:443:[2606:4700::1111],1.1.1.1"


def test_a_missing_git_is_reported(server: Receiver, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure, match="Git is not installed on this server"):
        listed(server)


@pytest.mark.parametrize("said", ["git version 2.36.9", "git version 1.99.0", "something else"])
def test_an_old_git_is_refused(server: Receiver, tmp_path: Path, monkeypatch: Any, said: str) -> None:
    (tmp_path / "git").write_text(f"#!/bin/sh\necho {json.dumps(said)}\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(Failure, match=r"need git 2\.37 or newer"):
        listed(server)
    assert server.got == []


def test_failures_contain_neither_the_url_nor_remote_text(server: Receiver, root: Path) -> None:
    serve = server.behave
    server.behave = lambda handler: (answering(500, b"<b>own words</b>") if by_git(handler) else serve)(handler)
    repository(root / "hidden.git", ONE)
    with pytest.raises(Failure) as failed:
        listed(server, path="/hidden.git")
    assert "hidden" not in str(failed.value) and "own words" not in str(failed.value)
