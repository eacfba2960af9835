"""The WSGI environ of a request."""

import sys
from typing import Any

from skillsite.server.protocol import Scope

_BASE: dict[str, Any] = {
    "GATEWAY_INTERFACE": "CGI/1.1",
    "SCRIPT_NAME": "",
    "SERVER_SOFTWARE": "Granian",
    "wsgi.input_terminated": True,  # the end of a chunked body is known
    "wsgi.errors": sys.stderr,
    "wsgi.multiprocess": True,
    "wsgi.multithread": True,
    "wsgi.run_once": False,
    "wsgi.version": (1, 0),
}
_UNPREFIXED = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


def build(scope: Scope) -> dict[str, Any]:
    server_name, _, server_port = scope.server.rpartition(":")
    environ = _BASE | {
        "REQUEST_METHOD": scope.method,
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "REMOTE_ADDR": host(scope.client),
        "SERVER_NAME": server_name,
        "SERVER_PORT": server_port,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "wsgi.url_scheme": scope.scheme,
    }
    for name, value in scope.headers.items():
        key = _key(name)
        if key:
            separator = "; " if key == "HTTP_COOKIE" else ","
            environ[key] = f"{environ[key]}{separator}{value}" if key in environ else value
    return environ


def host(address: str) -> str:
    """Return the IP address in `127.0.0.1:8000` or `[::1]:8000`."""
    return address.rpartition(":")[0].strip("[]")


def _key(name: str) -> str:
    """Return the key of a header, or an empty string for a name with an underscore.

    The keys of `X_Forwarded_For` and `X-Forwarded-For` are equal, so the first could replace what a proxy wrote.
    """
    known = _KEYS.get(name)
    if known is None:
        known = "" if "_" in name else _UNPREFIXED.get(name) or f"HTTP_{name.upper().replace('-', '_')}"
        if len(_KEYS) < _MOST_KEYS:
            _KEYS[name] = known
    return known


_KEYS: dict[str, str] = {}
_MOST_KEYS = 200  # clients choose the names
