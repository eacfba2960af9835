"""Server-sent events of an MCP server: the stream is read until it contains the response."""

import json
from contextlib import suppress


class EventStream:
    """Find the response with an id in a stream of events, part by part.

    `response` is its text, or None. Other messages, such as progress, are passed over.
    """

    def __init__(self, request_id: int) -> None:
        self._id = request_id
        self._rest, self._data = bytearray(), bytearray()
        self.response: bytes | None = None

    def feed(self, part: bytes) -> bool:
        """Add a part of the stream. Return True when the response is complete."""
        self._rest += part
        if b"\n" not in part and b"\r" not in part:
            return False
        lines = self._rest.splitlines(keepends=True)
        # A line that ends with \r may continue with \n in the next part.
        self._rest = lines.pop() if not lines[-1].endswith(b"\n") else bytearray()
        for line in lines:
            self._read(line.rstrip(b"\r\n"))
        return self.response is not None

    def finish(self) -> None:
        """Read the end of a stream that closes without an empty line."""
        self._read(self._rest.rstrip(b"\r\n"))
        self._read(b"")

    def _read(self, line: bytes | bytearray) -> None:
        if line.startswith(b"data:"):
            value = line.removeprefix(b"data:").removeprefix(b" ")
            self._data += (b"\n" if self._data else b"") + value
        elif not line and self._data:
            if self.response is None and self._is_response(bytes(self._data)):
                self.response = bytes(self._data)
            self._data.clear()

    def _is_response(self, text: bytes) -> bool:
        """Return whether an event is the response. An event that is no JSON could be it, so its reader refuses it."""
        with suppress(ValueError, RecursionError):
            message = json.loads(text)
            return isinstance(message, dict) and message.get("id") == self._id and "method" not in message
        return True
