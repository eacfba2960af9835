"""Uploads over plain sockets, so that a test can stop the server after an exact number of bytes."""

import json
import random
import socket
import threading
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from registry.core.archive import zip_bundle as bundle_files
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md
from tests.faults.sites import PATIENCE, Site

_BOUNDARY = "the-part-ends-here"
_CHUNK = 1_024


def bundle(name: str, *, files: int, chance: random.Random) -> Bundle:
    text = skill_md.compose(
        name=name,
        description=f"Does what {name} does for the team. Use when somebody asks for {name}.",
        instructions=f"# {name}\n\nFollow the steps.",
    )
    parts = {f"references/part-{number}.bin": chance.randbytes(800) for number in range(files)}
    return Bundle({SKILL_MD: text.encode(), **parts})


def request(site: Site, token: str, project: str, content: Bundle) -> bytes:
    body = b"".join(
        (
            f"--{_BOUNDARY}\r\n".encode(),
            b'Content-Disposition: form-data; name="file"; filename="skill.zip"\r\n',
            b"Content-Type: application/zip\r\n\r\n",
            bundle_files.write_zip(content),
            f"\r\n--{_BOUNDARY}--\r\n".encode(),
        )
    )
    head = (
        f"POST /api/v1/projects/{project}/bundles HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: multipart/form-data; boundary={_BOUNDARY}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


@dataclass
class Uploads:
    """Clients that upload until they are done or the server ends. `fuse` is called once, after `fuse_after` bytes."""

    site: Site
    token: str
    project: str
    fuse_after: int = 0
    fuse: Callable[[], object] = bool
    accepted: dict[str, str] = field(default_factory=dict)
    begun: dict[str, Bundle] = field(default_factory=dict)
    unexpected: list[str] = field(default_factory=list)
    _sent: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, *, clients: int, prefix: str, each: int = 1_000, seed: int = 0) -> None:
        threads = [
            threading.Thread(target=self._client, args=(f"{prefix}-{number}", each, random.Random(f"{seed} {number}")))
            for number in range(clients)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _client(self, prefix: str, each: int, chance: random.Random) -> None:
        for number in range(each):
            content = bundle(f"{prefix}-{number}", files=12, chance=chance)
            self.begun[f"{prefix}-{number}"] = content
            try:
                answer = self.send(request(self.site, self.token, self.project, content))
            except OSError:
                return
            if not self.record(answer):
                return

    def send(self, message: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.site.port), timeout=PATIENCE) as connection:
            for start in range(0, len(message), _CHUNK):
                connection.sendall(message[start : start + _CHUNK])
                self._burn(_CHUNK)
            answer = b""
            while received := connection.recv(65_536):
                answer += received
            return answer

    def _burn(self, sent: int) -> None:
        with self._lock:
            before, self._sent = self._sent, self._sent + sent
        if before < self.fuse_after <= before + sent:
            self.fuse()

    def record(self, answer: bytes) -> bool:
        """Record the skill that the server accepted. Return False if the response is incomplete or an error."""
        head, _, body = answer.partition(b"\r\n\r\n")
        try:
            accepted = json.loads(body)
        except ValueError:
            return False
        if not head.startswith((b"HTTP/1.1 201", b"HTTP/1.1 200")):
            self.unexpected.append(answer.decode(errors="replace"))
            return False
        self.accepted[accepted["name"]] = accepted["digest"]
        return True

    def load(self, name: str) -> dict[str, Any]:
        """Load a skill as an agent does."""
        address = self.site.url(f"/api/v1/projects/{self.project}/skills/{name}")
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            loaded: dict[str, Any] = json.load(answer)
            return loaded
