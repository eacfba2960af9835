"""Servers on loopback that are sources: files at addresses, and git repositories over smart HTTP."""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.services.receivers import Behaviour, Receiver, answering

Served = Mapping[str, bytes | Behaviour]


def skill(name: str = "demo", description: str = "Shows things.", body: str = "Do it.") -> bytes:
    return f"---\nname: {name}\ndescription: {description}\n---\n{body}\n".encode()


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def serving(served: Served) -> Behaviour:
    """Serve each path with its bytes or its behaviour, and 404 for others. A path with its query is looked up first."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        found = served.get(handler.path, served.get(handler.path.partition("?")[0]))
        if found is None:
            return answering(404, b"nothing here")(handler)
        return (answering(200, found) if isinstance(found, bytes) else found)(handler)

    return behave


def as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def repository(path: Path, files: Mapping[str, bytes], *, modes: Mapping[str, str] | None = None) -> str:
    """Commit these files on main of a bare repository, and return the commit id."""
    git = ["git", "-C", str(path)]
    if not path.exists():
        path.mkdir(parents=True)
        subprocess.run([*git, "init", "-q", "--bare", "-b", "main"], check=True)
    stream = b"commit refs/heads/main\ncommitter a <a@example.org> 0 +0000\ndata 1\nx\ndeleteall\n"
    for name, content in files.items():
        mode = (modes or {}).get(name, "100644")
        quoted = json.dumps(name, ensure_ascii=False).encode()
        if mode == "160000":
            stream += b"M 160000 %s %s\n" % (content, quoted)
        else:
            stream += b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), quoted, len(content), content)
    subprocess.run([*git, "fast-import", "--quiet", "--force"], input=stream, check=True)
    return head(path)


def head(path: Path, of: str = "main") -> str:
    said = subprocess.run(["git", "-C", str(path), "rev-parse", of], check=True, capture_output=True)
    return said.stdout.decode().strip()


def git_server(receiver: Receiver, root: Path) -> Behaviour:
    """Serve all repositories below a directory with the CGI program of git."""
    backend = Path(subprocess.check_output(["git", "--exec-path"]).decode().strip()) / "git-http-backend"

    def behave(handler: BaseHTTPRequestHandler) -> None:
        path, _, query = handler.path.partition("?")
        received = receiver.got[-1]
        environment = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(root), "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": os.devnull, "PATH_INFO": path, "QUERY_STRING": query,
            "REQUEST_METHOD": handler.command,
            "CONTENT_TYPE": received.headers.get("content-type", ""), "CONTENT_LENGTH": str(len(received.body)),
            "HTTP_CONTENT_ENCODING": received.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": received.headers.get("git-protocol", ""), "REMOTE_ADDR": "127.0.0.1",
        }  # fmt: skip
        said = subprocess.run([str(backend)], input=received.body, env=environment, capture_output=True, check=False)
        _pass_on(handler, said.stdout)

    return behave


def _pass_on(handler: BaseHTTPRequestHandler, said: bytes) -> None:
    head_lines, _, body = said.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head_lines.decode().splitlines())
    handler.send_response(int(headers.pop("Status", "200 OK").split()[0]))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def redirecting(target: str | Callable[[str], str]) -> Behaviour:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        answering(302, Location=target if isinstance(target, str) else target(handler.path))(handler)

    return behave
