"""The RSGI application that `manage.py serve` starts."""

import asyncio
import io
import logging
import re
from collections import deque
from functools import partial
from typing import IO

from django.conf import settings

from registry.services import client_address
from registry.services.following import Stream
from registry.services.resolve import gate
from skillsite.server import answers, bodies, pipe, senders
from skillsite.server.answers import Answer, Wsgi
from skillsite.server.environ import build, host
from skillsite.server.following import Following
from skillsite.server.listening import end_stuck_connections
from skillsite.server.places import Places
from skillsite.server.protocol import HttpProtocol, Scope
from skillsite.server.refusals import refuse
from skillsite.server.threads import Threads
from skillsite.server.unread import Unread

logger = logging.getLogger(__name__)

_TEXT = b"Something went wrong on the server. The error was logged.\n"
_PROBES = ("/healthz", "/readyz")
_RESOLVE = re.compile("/api/v1/projects/[^/]+/resolve")
_COLLECT_SECONDS = 0.05
_CRASHED = Answer(500, [("Content-Type", "text/plain; charset=utf-8")], _TEXT, len(_TEXT))
_STUCK_WINDOWS = 2
_KERNEL_SECONDS = 5  # the kernel looks at a stuck connection every few seconds
_TOO_SLOW = "The request arrived too slowly. Nothing was saved. Send it again."
_TOO_LONG = "Sign in, or send a valid token, to send more than 1,048,576 bytes. Nothing was saved."
_INCOMPLETE = "The request body is incomplete, or has trailers. Nothing was saved. Send it again, without trailers."
_BUSY = "Too many slow requests are in progress. Nothing was saved. Send the request again in a few seconds."


class Application:
    """Receives bodies and sends long answers in the event loop, and runs a WSGI application in threads."""

    def __init__(self, wsgi: Wsgi) -> None:
        self._wsgi = wsgi
        self._bodies = Places(512, 128)
        self._large_bodies = Places(16, 8, per_sender=4)
        self._long_answers = Places(64, 16)
        self._running = 0
        self._finished: deque[asyncio.Future[Answer | None]] = deque()
        self._collecting = False

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._stuck_seconds = _STUCK_WINDOWS * settings.SLOW_CLIENT_SECONDS
        self._unread = Unread(self._stuck_seconds + _KERNEL_SECONDS)
        self._listening = False
        self._threads = Threads(settings.WEB_THREADS, "web")
        # Each probe has its own thread, so it answers also while all others are busy, or while the database is slow.
        self._probes = {path: Threads(1, path.strip("/")) for path in _PROBES}
        self._following = Following(loop)
        # These requests may wait for other servers. With their own threads, nothing else has to wait for them.
        self._resolving = Threads(settings.RESOLVE_THREADS, "resolve")
        gate.use_own_threads(settings.RESOLVE_THREADS)

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._following.stop()
        for threads in (self._threads, self._resolving, *self._probes.values()):
            threads.stop()

    async def __rsgi__(self, scope: Scope, proto: HttpProtocol) -> None:
        if not self._listening:
            # The socket does not exist before the first request.
            self._listening = True
            end_stuck_connections(self._stuck_seconds)
        self._unread.next_request(scope.client)
        announced = scope.headers.get("content-length")
        chunked = not announced and bool(scope.headers.get("transfer-encoding"))
        length = int(announced or 0)
        if length > bodies.longest():
            await self._answer(scope, proto, bodies.Refused())
        elif length or chunked:
            await self._receive(scope, proto, None if chunked else length)
        else:
            await self._answer(scope, proto, io.BytesIO())

    async def _receive(self, scope: Scope, proto: HttpProtocol, length: int | None) -> None:
        """Receive the body and answer. A large body keeps its place until the request is answered."""
        large = length is None or length > bodies.LARGE
        sender = await self._find_sender(scope) if large else ""
        known = not large or bool(sender)
        if not known and length is not None:
            await self._answer(scope, proto, bodies.Refused())
            return
        large = large and known
        places = self._large_bodies if large else self._bodies
        place = places.take(_network(scope), sender)
        if place is None:
            refuse(scope, proto, 503, "busy", _BUSY)
            return
        try:
            body = await bodies.receive(proto, length, place, known=known)
            if not large:
                places.leave(place)
            await self._answer(scope, proto, body)
        except TimeoutError:
            refuse(scope, proto, 408, "request-timeout", _TOO_SLOW)
        except bodies.TooLong:
            refuse(scope, proto, 413, "too-large", _TOO_LONG)
        except bodies.Incomplete:
            refuse(scope, proto, 400, "incomplete", _INCOMPLETE)
        finally:
            places.leave(place)

    async def _find_sender(self, scope: Scope) -> str:
        """Look the sender up in a thread, before a large body takes a place."""
        found: asyncio.Future[str] = self._loop.create_future()

        def look_up() -> None:
            try:
                sender = senders.find(scope.headers)
            except Exception:
                logger.exception("The sender of a large body could not be looked up.")
                sender = ""
            self._loop.call_soon_threadsafe(_resolve, found, sender)

        self._threads.submit(look_up)
        return await found

    async def _answer(self, scope: Scope, proto: HttpProtocol, body: IO[bytes] | io.RawIOBase) -> None:
        done: asyncio.Future[Answer | None] = self._loop.create_future()
        self._threads_for(scope.path).submit(partial(self._work, scope, proto, body, done))
        self._running += 1
        if not self._collecting:
            self._collecting = True
            self._loop.call_later(_COLLECT_SECONDS, self._collect)
        try:
            answer = await done
        finally:
            self._running -= 1
        if answer is not None and answer.follow is not None:
            await self._follow(scope, proto, answer)
        elif answer is not None:
            await self._send(scope, proto, answer)

    def _threads_for(self, path: str) -> Threads:
        if _RESOLVE.fullmatch(path):
            return self._resolving
        return self._probes.get(path, self._threads)

    def _work(
        self, scope: Scope, proto: HttpProtocol, body: IO[bytes] | io.RawIOBase, done: "asyncio.Future[Answer | None]"
    ) -> None:
        """Run the application in this thread. Send a short answer from here, without a detour to the event loop."""
        with body:
            try:
                answer = answers.produce(self._wsgi, build(scope) | {"wsgi.input": body})
            except Exception:
                logger.exception("The request failed.")
                answer = _CRASHED
        if (
            isinstance(answer.body, bytes)
            and answer.follow is None
            and (answer.length <= answers.DIRECT or self._unread.add(scope.client, answer.length))
        ):
            proto.response_bytes(answer.status, answer.headers, answer.body)
            self._finished.append(done)
        else:
            self._loop.call_soon_threadsafe(_hand_over, done, answer)

    def _collect(self) -> None:
        """End the coroutines of requests that were answered. To wake the event loop for each one costs more time."""
        while self._finished:
            done = self._finished.popleft()
            if not done.done():
                done.set_result(None)
        self._collecting = self._running > 0
        if self._collecting:
            self._loop.call_later(_COLLECT_SECONDS, self._collect)

    async def _follow(self, scope: Scope, proto: HttpProtocol, answer: Answer) -> None:
        """Send a stream as it goes on, or wait for the answer that replaces this one."""
        follow, answer.follow = answer.follow, None
        try:
            if isinstance(follow, Stream):
                await self._following.send_stream(proto, answer, follow)
            else:
                found = await self._following.wait(proto, follow)
                await self._send_directly(scope, proto, answers.merged(answer, found) if found else answer)
        except (TimeoutError, BrokenPipeError):
            logger.info("A client did not read what followed.")
        finally:
            follow.close()

    async def _send_directly(self, scope: Scope, proto: HttpProtocol, answer: Answer) -> None:
        if isinstance(answer.body, bytes) and answer.length <= answers.DIRECT:
            proto.response_bytes(answer.status, answer.headers, answer.body)
        else:
            await self._send(scope, proto, answer)

    async def _send(self, scope: Scope, proto: HttpProtocol, answer: Answer) -> None:
        place = self._long_answers.take(_network(scope))
        try:
            if place is None:
                refuse(scope, proto, 503, "busy", _BUSY)
            else:
                await pipe.send(proto, answer, place)
        except (TimeoutError, BrokenPipeError):
            logger.info("A client did not read its answer to the end.")
        finally:
            answer.close()
            if place is not None:
                self._long_answers.leave(place)


def _hand_over(done: "asyncio.Future[Answer | None]", answer: Answer) -> None:
    if done.done():
        answer.close()
    else:
        done.set_result(answer)


def _resolve(found: "asyncio.Future[str]", sender: str) -> None:
    if not found.done():
        found.set_result(sender)


def _network(scope: Scope) -> str:
    forwarded = scope.headers.get("x-forwarded-for", "")
    meta = {"REMOTE_ADDR": host(scope.client), "HTTP_X_FORWARDED_FOR": forwarded}
    return client_address.network(client_address.address(meta))
