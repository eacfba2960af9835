"""A web server on loopback with a response for each path."""

from http.server import BaseHTTPRequestHandler
from io import BytesIO
from zipfile import ZipFile

from tests.services.receivers import Behaviour, Receiver, answering


def zipped(files: dict[str, bytes | str]) -> bytes:
    made = BytesIO()
    with ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


class Web:
    """Responses by path. Other paths are 404."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self.pages: dict[str, Behaviour] = {}
        receiver.behave = self._behave

    def _behave(self, handler: BaseHTTPRequestHandler) -> None:
        self.pages.get(handler.path.partition("?")[0], answering(404, b"not here"))(handler)

    def put(self, path: str, body: bytes | str = b"", status: int = 200, **headers: str) -> str:
        self.pages[path] = answering(status, body.encode() if isinstance(body, str) else body, **headers)
        return self.url(path)

    def behave(self, path: str, behaviour: Behaviour) -> str:
        self.pages[path] = behaviour
        return self.url(path)

    def url(self, path: str) -> str:
        return self.receiver.url(path)

    @property
    def asked(self) -> list[str]:
        return [one.path for one in self.receiver.got]

    @property
    def allowed(self) -> frozenset[str]:
        return frozenset([self.receiver.host])
