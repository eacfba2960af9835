"""The parts of the RSGI interface of the web server that the application uses."""

from collections.abc import AsyncIterator
from typing import Protocol

HeaderList = list[tuple[str, str]]


class Headers(Protocol):
    def get(self, name: str, default: str = "") -> str: ...
    def items(self) -> HeaderList: ...


class Scope(Protocol):
    """A request without its body. `client` and `server` are an address and a port."""

    method: str
    path: str
    query_string: str
    scheme: str
    http_version: str
    client: str
    server: str

    @property
    def headers(self) -> Headers: ...


class Transport(Protocol):
    async def send_bytes(self, data: bytes) -> None: ...


class HttpProtocol(Protocol):
    """The body of a request, by iteration, and its answer."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    def response_empty(self, status: int, headers: HeaderList) -> None: ...
    def response_bytes(self, status: int, headers: HeaderList, body: bytes) -> None: ...
    def response_file(self, status: int, headers: HeaderList, file: str) -> None: ...
    def response_stream(self, status: int, headers: HeaderList) -> Transport: ...
    async def client_disconnect(self) -> None: ...
