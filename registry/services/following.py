"""Answers that go on after their view has returned: streams of events, and answers that wait for something.

No thread waits for them. The web server takes `follow` from the response, and calls `look` now and then. With another
server, a stream ends after what its view has produced, and an answer that could have waited is sent at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse


class Stream(ABC):
    """A stream that goes on. The server looks every `seconds`."""

    seconds: float

    @abstractmethod
    def look(self) -> bytes | None:
        """Return the next bytes, empty if there is nothing new, and None at the end."""

    @abstractmethod
    def close(self) -> None: ...


class Later(ABC):
    """An answer that may come later. The server looks every `seconds`."""

    seconds: float

    @property
    @abstractmethod
    def is_late(self) -> bool:
        """Return whether nobody should wait any more. The response that was returned is sent then."""

    @abstractmethod
    def look(self) -> HttpResponse | None:
        """Return the answer, or None as long as there is none."""

    @abstractmethod
    def close(self) -> None: ...


class EventStream(StreamingHttpResponse):
    def __init__(self, first: Iterable[bytes], follow: Stream | None) -> None:
        super().__init__(first, content_type="text/event-stream")
        self.follow = follow

    def close(self) -> None:
        super().close()
        _close(self)


class WaitingResponse(HttpResponse):
    def __init__(self, content: bytes, follow: Later | None, **more: Any) -> None:
        super().__init__(content, **more)
        self.follow = follow

    def close(self) -> None:
        super().close()
        _close(self)


def _close(response: EventStream | WaitingResponse) -> None:
    """Close what follows, unless the web server has taken it from the response."""
    if response.follow is not None:
        response.follow.close()
        response.follow = None
