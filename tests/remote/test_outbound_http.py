"""Servers that fail, hang or lie, redirects, and private networks."""

import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD
from registry.core.limits import Limits
from tests.conftest import skill_text
from tests.remote.conftest import PATIENT, Resolve
from tests.remote.entries import TEXT, entry, only, skip
from tests.remote.web import Web, zipped
from tests.services.receivers import dripping, endless, hanging

# -- Servers that fail -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [204, 301, 304, 400, 401, 403, 404, 410, 500, 503])
def test_an_error_status_is_reported(resolve: Resolve, web: Web, root: Path, status: int) -> None:
    reason = skip(resolve(entry(web.put("/a.md", "" if status == 204 else "no", status))), root)
    assert status == 204 or f"status {status}" in reason


def test_a_closed_port_is_reported(resolve: Resolve, web: Web, root: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        allowed = frozenset([f"127.0.0.1:{port}"])
        assert "reach this address" in skip(resolve(entry(f"http://127.0.0.1:{port}/a.zip"), allowed=allowed), root)


@pytest.mark.parametrize("behaviour", [hanging, dripping])
def test_a_slow_server_is_cut_off_at_the_limit_of_the_definition(
    resolve: Resolve, web: Web, root: Path, behaviour: Any
) -> None:
    url = web.behave("/a.md", behaviour(web.receiver))
    assert "0.1 seconds" in skip(resolve(entry(url), bounds=replace(PATIENT, each=0.1)), root)


def test_a_slow_body_is_cut_off_too(resolve: Resolve, web: Web, root: Path) -> None:
    def drip(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not web.receiver.released.wait(0.005):
            try:
                handler.wfile.write(b"-")
            except OSError:
                return

    assert "seconds" in skip(resolve(entry(web.behave("/a.md", drip)), bounds=replace(PATIENT, each=0.1)), root)


def test_a_request_ends_at_its_limit_even_with_running_downloads(resolve: Resolve, web: Web, root: Path) -> None:
    slow = web.behave("/slow.md", hanging(web.receiver))
    good = web.put("/good.md", skill_text("good"))
    entries = [entry(slow, name=f"slow-{number}") for number in range(20)]
    results = resolve(*entries, entry(good, name="good"), bounds=replace(PATIENT, all=0.1, at_once=4))
    assert {one.status for one in results[:-1]} == {"skipped"}
    assert all("seconds" in one.reason for one in results[:-1])
    assert [one.name for one in results] == [one["name"] for one in (*entries, entry(name="good"))]


def test_a_download_beyond_the_limit_is_cut_while_it_streams(resolve: Resolve, web: Web, root: Path) -> None:
    url = web.behave("/a.zip", endless(web.receiver))
    reason = skip(resolve(entry(url), limits=Limits(archive_bytes=100_000), bounds=PATIENT), root)
    assert "limit of 100,000 bytes" in reason


def _promising(length: str, body: bytes) -> Any:
    def behave(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", length)
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def test_a_body_that_ends_too_soon_is_not_a_skill(resolve: Resolve, web: Web, root: Path) -> None:
    url = web.behave("/a.md", _promising("100000", TEXT.encode()))
    assert "interrupted" in skip(resolve(entry(url)), root)


def test_a_length_that_is_too_short_cuts_the_zip_and_it_is_refused(resolve: Resolve, web: Web, root: Path) -> None:
    body = zipped({SKILL_MD: TEXT})
    assert "zip" in skip(resolve(entry(web.behave("/a.zip", _promising(str(len(body) - 40), body)))), root)


def test_an_absurd_content_length_is_ignored(resolve: Resolve, web: Web, root: Path) -> None:
    assert skip(resolve(entry(web.behave("/a.md", _promising("9" * 18, TEXT.encode())))), root)
    assert skip(resolve(entry(web.behave("/a.md", _promising("-5", TEXT.encode())))), root)


def test_a_chunked_response_is_read_whole(resolve: Resolve, web: Web, root: Path) -> None:
    def chunked(handler: Any) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for part in (TEXT[:10].encode(), TEXT[10:].encode()):
            handler.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        handler.wfile.write(b"0\r\n\r\n")

    assert only(resolve(entry(web.behave("/a.md", chunked)))).status == "loaded"


def test_a_compressed_response_that_was_not_asked_for_is_refused(resolve: Resolve, web: Web, root: Path) -> None:
    url = web.put("/a.md", b"\x1f\x8b nonsense", **{"Content-Encoding": "gzip"})
    assert "compressed" in skip(resolve(entry(url)), root)


# -- Redirects and private networks ------------------------------------------------------------------------


def test_redirects_are_followed_five_times_and_no_more(resolve: Resolve, web: Web, root: Path) -> None:
    web.put("/5", TEXT)
    for number in range(5):
        web.put(f"/{number}", status=302, Location=f"/{number + 1}")
    assert only(resolve(entry(web.url("/0")))).status == "loaded"
    web.put("/5", status=302, Location="/6")
    web.put("/6", TEXT)
    assert "Too many redirects" in only(resolve(entry(web.url("/0"), version="2"))).reason


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/", "https://169.254.169.254/", "https://127.0.0.1:1/a.zip",
        "https://[::ffff:10.0.0.1]/", "https://[fd00:ec2::254]/", "http://127.1/", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_a_redirect_into_a_private_network_is_refused(resolve: Resolve, web: Web, root: Path, target: str) -> None:
    skip(resolve(entry(web.put("/a.zip", status=302, Location=target))), root)
    assert len(web.asked) == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "169.254.169.254", "10.1.2.3", "[::1]", "2130706433"])
def test_an_address_in_a_private_network_is_refused(resolve: Resolve, root: Path, host: str) -> None:
    reason = skip(resolve(entry(f"https://{host}/a.zip"), allowed=frozenset()), root)
    assert "private network" in reason


def test_dns_rebinding_has_no_effect(
    resolve: Resolve, root: Path, names: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """First a public address, then a private one: the connection goes to the one that was judged."""
    names["rebinding.test"], dialled = ["1.1.1.1", "127.0.0.1"], []

    def refuse(address: tuple[str, int], *_: Any, **__: Any) -> None:
        dialled.append(address[0])
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(socket, "create_connection", refuse)
    assert "reach this address" in skip(resolve(entry("https://rebinding.test/a.zip")), root)
    assert dialled == ["1.1.1.1"]


def test_a_name_with_a_private_address_is_refused(resolve: Resolve, root: Path, names: dict[str, list[str]]) -> None:
    names["intranet.test"] = ["192.168.0.7"]
    assert "private network" in skip(resolve(entry("https://intranet.test/a.zip")), root)


def test_proxies_and_password_files_of_the_environment_are_not_used(
    resolve: Resolve, web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password very-secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert only(resolve(entry(web.put("/a.md", TEXT)))).status == "loaded"
    assert "authorization" not in web.receiver.got[0].headers
