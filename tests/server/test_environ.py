"""The WSGI environ of requests."""

from dataclasses import dataclass, field

import pytest

from skillsite.server.environ import build


class Headers(list[tuple[str, str]]):
    def get(self, name: str, default: str = "") -> str:
        return dict(self).get(name, default)

    def items(self) -> list[tuple[str, str]]:
        return self


@dataclass
class Request:
    """A request as the web server passes it on."""

    headers: Headers = field(default_factory=Headers)
    client: str = "192.0.2.1:50000"
    server: str = "127.0.0.1:8000"
    method: str = "GET"
    path: str = "/"
    query_string: str = ""
    scheme: str = "http"
    http_version: str = "1.1"


def test_a_header_with_an_underscore_cannot_replace_one_of_the_proxy() -> None:
    environ = build(Request(Headers([("x-forwarded-for", "192.0.2.7"), ("x_forwarded_for", "203.0.113.9")])))
    assert environ["HTTP_X_FORWARDED_FOR"] == "192.0.2.7"


def test_headers_of_one_name_are_joined() -> None:
    environ = build(Request(Headers([("accept", "a"), ("accept", "b"), ("content-type", "c")])))
    assert (environ["HTTP_ACCEPT"], environ["CONTENT_TYPE"]) == ("a,b", "c")


def test_cookies_of_several_headers_are_joined_as_cookies() -> None:
    assert build(Request(Headers([("cookie", "a=1"), ("cookie", "b=2")])))["HTTP_COOKIE"] == "a=1; b=2"


@pytest.mark.parametrize(
    ("client", "address"), [("192.0.2.1:50000", "192.0.2.1"), ("[2001:db8::1]:50000", "2001:db8::1")]
)
def test_the_address_of_the_client_has_no_port(client: str, address: str) -> None:
    assert build(Request(client=client))["REMOTE_ADDR"] == address


def test_the_path_is_encoded_as_wsgi_requires() -> None:
    assert build(Request(path="/käse"))["PATH_INFO"].encode("latin-1").decode() == "/käse"
