"""A child process that speaks in lines, within limits of time and output."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryDirectory

from registry.core.workflows.failures import Code
from registry.lib.circuit_breaker import Outcome
from registry.remote.bindings.failure import BindingFailed, unusable_definition

_PART = 65_536
_GRACE_SECONDS = 1.0  # to end after its input is closed


class ChildProcess:
    """A program in a directory and a process group of its own, without our environment, open files or a shell.

    When the context ends, the whole group is killed. A program that leaves its group on purpose is not caught.
    """

    def __init__(
        self, command: str, arguments: Sequence[str], environment: Mapping[str, str], *, seconds: float, most: int
    ) -> None:
        self._name, self._command, self._environment = command, [command, *arguments], environment
        self._seconds, self._deadline, self._most = seconds, time.monotonic() + seconds, most
        self._unsent, self._unread, self._received = bytearray(), bytearray(), 0
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> "ChildProcess":
        self._directory = TemporaryDirectory(prefix="skillsite-call-", ignore_cleanup_errors=True)
        try:
            self._process = self._start(self._directory.name)
        except (OSError, ValueError) as error:
            self._directory.cleanup()
            reason = error.strerror if isinstance(error, OSError) else "it contains a NUL character"
            raise unusable_definition(f"The command {self._name!r} can’t be started: {reason}.") from None
        assert self._process.stdin  # noqa: S101 - both are pipes
        assert self._process.stdout  # noqa: S101
        self._stdin, self._stdout = self._process.stdin.fileno(), self._process.stdout.fileno()
        for descriptor in (self._stdin, self._stdout):
            os.set_blocking(descriptor, False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        return self

    def _start(self, directory: str) -> "subprocess.Popen[bytes]":
        own = {"PATH": os.environ.get("PATH", os.defpath), "HOME": directory, "TMPDIR": directory, "LC_ALL": "C.UTF-8"}
        return subprocess.Popen(  # noqa: S603 - the operator chose the command, and no value of a run is in it
            self._command,
            env={**own, **self._environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=directory,
            bufsize=0,
            start_new_session=True,
        )

    def __exit__(self, failed: object, *_: object) -> None:
        try:
            self._close_input()
            if failed is None:
                self._await_end()
        finally:
            self._selector.close()
            # The process was not waited for yet, so that no other one can have the number of its group.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            assert self._process.stdout  # noqa: S101
            self._process.stdout.close()
            self._directory.cleanup()

    def write(self, line: bytes) -> None:
        """Add a line to those that are sent while an answer is read."""
        if not self._unsent and self._is_open(self._stdin) is None:
            with suppress(OSError):
                self._selector.register(self._stdin, selectors.EVENT_WRITE)
        self._unsent += line + b"\n"

    def read(self) -> bytes:
        """Return the next line, or raise BindingFailed."""
        start = 0
        while (end := self._unread.find(b"\n", start)) < 0:
            start = len(self._unread)
            self._exchange()
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    def _exchange(self) -> None:
        """Wait until the process reads or writes, and do our part."""
        left = self._deadline - time.monotonic()
        ready = self._selector.select(left) if left > 0 else []
        if not ready:
            message = f"{self._name!r} gave no answer within {self._seconds:g} seconds and was ended."
            raise self._failed(message, Code.TIMEOUT)
        for key, _ in ready:
            if key.fd == self._stdin:
                self._send()
            else:
                self._receive()

    def _send(self) -> None:
        try:
            del self._unsent[: os.write(self._stdin, self._unsent[:_PART])]
        except BlockingIOError:
            return
        except OSError:  # it closed its input, and may still have answered
            self._unsent.clear()
        if not self._unsent:
            self._selector.unregister(self._stdin)

    def _receive(self) -> None:
        part = os.read(self._stdout, _PART)
        if not part:
            raise self._failed(f"{self._name!r} ended before it answered.")
        self._received += len(part)
        if self._received > self._most:
            message = f"{self._name!r} wrote more than {self._most:,} bytes and was ended."
            raise BindingFailed(message, maybe_done=True, outcome=Outcome.SUCCESS)
        self._unread += part

    def _failed(self, message: str, code: Code = Code.CALL) -> BindingFailed:
        return BindingFailed(message, retryable=True, maybe_done=True, code=code, outcome=Outcome.FAILURE)

    def _is_open(self, descriptor: int) -> selectors.SelectorKey | None:
        return self._selector.get_map().get(descriptor)

    def _close_input(self) -> None:
        if self._is_open(self._stdin):
            self._selector.unregister(self._stdin)
        with suppress(OSError):
            assert self._process.stdin  # noqa: S101
            self._process.stdin.close()

    def _await_end(self) -> None:
        """Read until the process closes its output, for a moment. What it still writes is dropped."""
        until = min(time.monotonic() + _GRACE_SECONDS, self._deadline)
        while (left := until - time.monotonic()) > 0 and self._selector.select(left):
            part = os.read(self._stdout, _PART)
            self._received += len(part)
            if not part or self._received > self._most:
                return
