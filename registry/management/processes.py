"""Runs several commands as one: they start together, and when one ends or we are told to stop, all end."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

_LOOK_EVERY = 0.1
_PATIENCE = 20.0
_PARENT_DEATH_SIGNAL = 1

Child = subprocess.Popen[bytes]


def run_together(commands: Sequence[Sequence[str]], *, cwd: Path) -> int:
    """The exit code: 0 where we were told to stop, else what the first command that ended gives, and never 0."""
    told: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: told.append(received))
    children: list[Child] = []
    ended: list[int] = []
    try:
        for command in commands:
            children.append(_start(command, cwd))
        while not told and not ended:
            time.sleep(_LOOK_EVERY)
            ended = [code for child in children if (code := child.poll()) is not None]
    finally:
        _end(children, told)
    return 0 if told else max(ended[0], 1)


def _start(command: Sequence[str], cwd: Path) -> Child:
    """In a process group of its own: Ctrl-C reaches it through us, once, and what it leaves behind can be found."""
    return subprocess.Popen(command, cwd=cwd, process_group=0, preexec_fn=_end_with_us())  # noqa: S603 - our own


def _end_with_us() -> Callable[[], object] | None:
    """On Linux a child is told to stop when we are killed outright, so that nothing keeps serving unattended."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def _end(children: Sequence[Child], told: Sequence[int]) -> None:
    """Asks first. Whoever does not stop in time is killed, at once when we are told to stop a second time."""
    for child in children:
        child.terminate()
    deadline = time.monotonic() + _PATIENCE
    while any(child.poll() is None for child in children):
        if time.monotonic() > deadline or len(told) > 1:
            break
        time.sleep(_LOOK_EVERY)
    for child in children:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)  # also the processes of a child that died and left them
        child.wait()
