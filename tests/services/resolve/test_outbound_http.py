"""Requests to addresses that people gave: public ones or allowed ones, within bounds, and nowhere else."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from registry.core.errors import InvalidRequest
from registry.remote.outbound_http import Failure, OutboundRequest, OutboundResponse, Refused
from registry.services.resolve import outbound_http
from tests.services.receivers import Behaviour, Receiver, answering, dripping, endless, hanging, receiving


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with receiving() as made:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [made.host]
        yield made


def get(url: str, **bounds: Any) -> OutboundResponse:
    return outbound_http.send(OutboundRequest("GET", url, **{"seconds": 5.0, **bounds}))


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that a connection was tried to; none of them is made."""
    tried: list[str] = []

    def refuse(address: tuple[str, int], *_: Any, **__: Any) -> None:
        tried.append(address[0])
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(socket, "create_connection", refuse)
    return tried


def test_an_allowed_host_is_reached(receiver: Receiver) -> None:
    receiver.behave = answering(418, b"short and stout", ETag='"tea"')
    answer = outbound_http.send(OutboundRequest("POST", receiver.url("/a?b=c"), b"{}", {"X-Said": "hello"}))
    assert (answer.status, answer.body, answer.complete) == (418, b"short and stout", True)
    assert answer.headers["etag"] == '"tea"'
    got = receiver.got[0]
    assert (got.method, got.path, got.body, got.headers["x-said"]) == ("POST", "/a?b=c", b"{}", "hello")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
        "169.254.169.254", "10.1.2.3", "0.0.0.0", "[fe80::1]", "[fd00:ec2::254]", "[64:ff9b::7f00:1]",  # noqa: S104
        "224.0.0.1",
    ],
)  # fmt: skip
def test_a_private_address_is_refused_in_every_spelling(host: str, dialled: list[str]) -> None:
    with pytest.raises(Failure, match="private network"):
        get(f"https://{host}/")
    with pytest.raises(InvalidRequest, match=r"private network.*Nothing was saved"):
        outbound_http.check(f"https://{host}/")
    assert dialled == []


def test_a_host_in_a_private_network_is_refused(names: dict[str, list[str]], dialled: list[str]) -> None:
    names["hooks.test"] = ["192.168.0.7"]
    with pytest.raises(Failure, match="private network"):
        get("https://hooks.test/")
    assert dialled == []


def test_an_unknown_name_and_a_private_one_have_the_same_error(names: dict[str, list[str]]) -> None:
    """Otherwise a caller could find out which names exist inside the network."""
    names["private.test"] = ["192.168.0.7"]
    told = set()
    for name in ("private.test", "nowhere.invalid"):
        for ask in (get, outbound_http.check):
            with pytest.raises((Failure, InvalidRequest)) as raised:
                ask(f"https://{name}/")
            told.add((type(raised.value), str(raised.value).replace(name, "NAME")))
    assert len(told) == 2
    assert {kind for kind, _ in told} == {Failure, InvalidRequest}


def test_the_connection_goes_to_the_checked_address(names: dict[str, list[str]], dialled: list[str]) -> None:
    """A name that changes its answer after the first lookup gains nothing."""
    names["hooks.test"] = ["1.1.1.1", "127.0.0.1"]
    with pytest.raises(Failure, match="reach this address"):
        get("https://hooks.test/")
    assert dialled == ["1.1.1.1"]


def test_only_the_allowed_port_is_reached(receiver: Receiver) -> None:
    with receiving() as other, pytest.raises(Refused):
        get(other.url())
    assert other.got == []


def test_http_without_tls_needs_an_allowed_host(dialled: list[str]) -> None:
    with pytest.raises(Refused, match="https"):
        get("http://1.1.1.1/")
    assert dialled == []


def test_a_redirect_is_returned_unless_redirects_are_allowed(receiver: Receiver) -> None:
    receiver.behave = answering(302, Location="/elsewhere")
    assert get(receiver.url()).status == 302
    assert len(receiver.got) == 1


@pytest.mark.parametrize("target", ["https://127.0.0.1:1/", "https://[::ffff:10.0.0.1]/", "http://169.254.169.254/"])
def test_a_redirect_into_a_private_network_is_refused(receiver: Receiver, target: str) -> None:
    receiver.behave = answering(302, Location=target)
    with pytest.raises(Refused):
        get(receiver.url(), redirects=3)
    assert len(receiver.got) == 1


def test_the_number_of_redirects_is_limited(receiver: Receiver) -> None:
    receiver.behave = answering(302, Location="/again")
    with pytest.raises(Failure, match="Too many redirects"):
        get(receiver.url(), redirects=2)
    assert len(receiver.got) == 3


def test_a_redirect_to_another_scheme_is_refused(receiver: Receiver) -> None:
    receiver.behave = answering(302, Location="file:///etc/passwd")
    with pytest.raises(Failure):
        get(receiver.url(), redirects=2)


def test_a_hanging_server_times_out(receiver: Receiver) -> None:
    receiver.behave = hanging(receiver)
    with pytest.raises(Failure, match=r"No complete response within 0\.05 seconds"):
        get(receiver.url(), seconds=0.05)


def test_a_slow_sender_does_not_extend_the_timeout(receiver: Receiver) -> None:
    receiver.behave = dripping(receiver)
    with pytest.raises(Failure, match=r"No complete response within 0\.1 seconds"):
        get(receiver.url(), seconds=0.1)


def test_an_endless_response_is_cut(receiver: Receiver) -> None:
    receiver.behave = endless(receiver)
    answer = get(receiver.url(), most=100_000)
    assert (len(answer.body), answer.complete) == (100_000, False)


def test_a_response_of_exactly_the_limit_is_complete(receiver: Receiver) -> None:
    receiver.behave = answering(200, b"x" * 1_000)
    assert get(receiver.url(), most=1_000).complete
    assert not get(receiver.url(), most=999).complete


def test_a_response_that_is_not_http_is_a_failure(receiver: Receiver) -> None:
    receiver.behave = lambda handler: handler.wfile.write(b"220 mail.example ESMTP\r\n") and None
    with pytest.raises(Failure, match="interrupted"):
        get(receiver.url())


def test_a_closed_port_is_a_failure(settings: Any) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        settings.SKILLS_FETCH_ALLOW_HOSTS = ["127.0.0.1"]
        with pytest.raises(Failure, match="reach this address"):
            get(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize("host", ["nowhere.invalid", f"{'a' * 64}.example", "a..b", "xn--a"])
def test_an_unknown_host_is_a_failure(host: str) -> None:
    with pytest.raises(Failure):
        get(f"https://{host}/")


def test_proxies_of_the_environment_are_not_used(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert get(receiver.url()).status == 204


def test_failures_do_not_contain_the_url(receiver: Receiver) -> None:
    """The path of a hook is often all that protects it."""
    receiver.behave = hanging(receiver)
    with pytest.raises(Failure) as failed:
        get(receiver.url("/secret-part"), seconds=0.05)
    assert "secret-part" not in str(failed.value)


def repeating(before: bytes) -> Behaviour:
    """Sends the path that was asked for back, where no path should be."""
    return lambda handler: handler.wfile.write(before + handler.path.encode() + b"\r\n\r\n") and None


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (b"", "The connection was interrupted: illegal status line."),
        (b"HTTP/1.1 200 OK\r\n", "The connection was interrupted: illegal header line."),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na",
            "The connection was interrupted: malformed chunk footer.",
        ),
        (
            b"HTTP/1.1 302 Found\r\nLocation: https://[secret]",
            "The request failed: Invalid URL in location header.",
        ),
    ],
)
def test_failures_do_not_quote_the_remote_side(receiver: Receiver, before: bytes, said: str) -> None:
    """The remote side knows the signed address and may send it back. Messages and logs must not show it."""
    receiver.behave = repeating(before)
    with pytest.raises(Failure) as failed:
        get(receiver.url("/skill.zip?X-Amz-Signature=secret"), redirects=1)
    assert str(failed.value) == said


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "Enter the whole address"),
        ("hooks.example.org/x", "Enter the whole address"),
        ("https:///x", "Enter the whole address"),
        ("https://me:pw@1.1.1.1/", "username or password"),
        ("http://1.1.1.1/", "Use https"),
        ("ftp://1.1.1.1/", "Use https"),
        ("javascript:alert(1)", "Enter the whole address"),
        ("https://1.1.1.1:99999/", "99999 is not a valid port"),
        ("https://1.1.1.1:8x/", "is invalid"),
        ("https://nowhere.invalid/", "Check the spelling"),
        ("https://xn--a/", "is invalid"),
        (f"https://1.1.1.1/{'x' * 500}", "500 are allowed"),
        (f"https://1.1.1.1/{'é' * 100}", "616 characters. 500 are allowed"),
    ],
)
def test_an_unusable_address_is_refused_with_the_reason(address: str, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said) as refused:
        outbound_http.check(address)
    assert refused.value.message.endswith("Nothing was saved.")


def test_a_valid_address_is_normalised(receiver: Receiver) -> None:
    assert outbound_http.check(" https://1.1.1.1/a?b=c#d ") == "https://1.1.1.1/a?b=c"
    assert outbound_http.check(receiver.url()) == receiver.url()
