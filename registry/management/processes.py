"""Child processes that start together and end together."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

_POLL_SECONDS = 0.1
_STOP_SECONDS = 20.0
_PARENT_DEATH_SIGNAL = 1

Child = subprocess.Popen[bytes]


def run_together(commands: Sequence[Sequence[str]], *, cwd: Path) -> int:
    """Run the commands until one ends or this process gets SIGTERM or SIGINT.

    Return 0 after a signal, otherwise the exit code of the command that ended first, but at least 1.
    """
    signals: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: signals.append(received))
    children: list[Child] = []
    ended: list[int] = []
    try:
        for command in commands:
            children.append(_start(command, cwd))
        while not signals and not ended:
            time.sleep(_POLL_SECONDS)
            ended = [code for child in children if (code := child.poll()) is not None]
        if ended and not signals:
            _say_who_ended(children)
    finally:
        _end(children, signals)
    return 0 if signals else max(ended[0], 1)


def _say_who_ended(children: Sequence[Child]) -> None:
    """Write which processes ended, because one that was killed cannot say so itself."""
    for child in children:
        if (code := child.poll()) is not None:
            arguments = [str(each) for each in child.args] if isinstance(child.args, Sequence) else [str(child.args)]
            cause = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
            sys.stderr.write(f"`{' '.join(arguments[1:3])}` {cause}, so all processes of this site stop.\n")
    sys.stderr.flush()


def _start(command: Sequence[str], cwd: Path) -> Child:
    """Start a command in its own process group, so that Ctrl-C reaches it only through us, and only once."""
    return subprocess.Popen(command, cwd=cwd, process_group=0, preexec_fn=_stop_with_parent())  # noqa: S603 - our own


def _stop_with_parent() -> Callable[[], object] | None:
    """Return a function that makes Linux send SIGTERM to the child if this process is killed."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def _end(children: Sequence[Child], signals: Sequence[int]) -> None:
    """Terminate the children, and kill them after a timeout or a second signal."""
    for child in children:
        child.terminate()
    deadline = time.monotonic() + _STOP_SECONDS
    while any(child.poll() is None for child in children):
        if time.monotonic() > deadline or len(signals) > 1:
            break
        time.sleep(_POLL_SECONDS)
    for child in children:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)  # also ends grandchildren that outlived their parent
        child.wait()
