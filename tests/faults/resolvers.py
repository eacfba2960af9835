"""Processes that resolve definitions on one volume at the same moment, and can be killed while they do.

One process is started and loads all modules. For each line of JSON it forks a child, which waits at the gate, resolves
the definitions, and writes the result to a file.
"""

import fcntl
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from registry.core.format import skill_md
from registry.remote import resolver
from registry.remote.outbound_http import GuardedTransport
from registry.remote.reach import Bounds
from tests.faults.sites import PATIENCE, ROOT


def work(request: dict[str, Any]) -> None:
    with Path(request["gate"]).open() as gate:
        fcntl.flock(gate, fcntl.LOCK_SH)
    results = resolver.resolve(
        request["definitions"],
        root=request["root"],
        allowed=frozenset(request["allowed"]),
        bounds=Bounds(each=PATIENCE, all=PATIENCE),
    )
    rows = [{"status": one.status, "reason": one.reason, "digest": one.digest} for one in results]
    fresh = Path(request["result"] + ".new")
    fresh.write_text(json.dumps(rows))
    fresh.rename(request["result"])


def warm_up() -> None:
    """Compile patterns and load certificates, so that the children need not. No thread may run when they are forked."""
    text = skill_md.compose(name="a", description="Does a. Use when somebody asks for a.", instructions="# A\n\nDo a.")
    with tempfile.TemporaryDirectory() as root:
        (resolved,) = resolver.resolve([{"name": "a", "version": "1", "content": text}], root=root)
        assert resolved.status == "loaded", resolved.reason
    GuardedTransport(allowed=frozenset(), deadline=0).close()


def main() -> None:
    warm_up()
    gc.freeze()  # so that the forked processes keep sharing the memory of loaded modules
    for line in sys.stdin:
        request = json.loads(line)
        if request == "reap":
            print(json.dumps(_reap()), flush=True)  # noqa: T201 - the parent reads it
            continue
        child = os.fork()
        if not child:
            work(request)
            os._exit(0)
        print(child, flush=True)  # noqa: T201


def _reap() -> list[int]:
    ended = []
    while True:
        try:
            ended.append(os.waitstatus_to_exitcode(os.wait()[1]))
        except ChildProcessError:
            return ended


class Resolvers:
    """Children of one process, on a volume of their own."""

    def __init__(self, process: "subprocess.Popen[str]", directory: Path) -> None:
        self._process, self._directory = process, directory
        self.root, self.gate = directory / "volume", directory / "gate"
        self.gate.touch()

    def _send(self, request: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    @contextmanager
    def at_once(self, definitions: Sequence[Any], allowed: Sequence[str]) -> Iterator[list[int]]:
        """Start one child per definition and open the gate; `results` waits for them."""
        self._results = [self._directory / f"result-{number}" for number in range(len(definitions))]
        for path in self._results:
            path.unlink(missing_ok=True)
        with self.gate.open("a") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            pids = [
                self._send(
                    {"gate": str(self.gate), "root": str(self.root), "definitions": one, "allowed": list(allowed),
                     "result": str(path)}
                )
                for one, path in zip(definitions, self._results, strict=True)
            ]  # fmt: skip
        yield pids

    def results(self) -> tuple[list[Any], list[int]]:
        """Return the results of the children that were not killed, and the exit code of each child."""
        ended = self._send("reap")
        return [json.loads(path.read_text())[0] for path in self._results if path.exists()], ended


@contextmanager
def resolver_process() -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.resolvers"], cwd=ROOT, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        assert process.stdin and process.stdout
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()


def kill(pid: int) -> None:
    """Kill a child. It is reaped later, so its pid cannot belong to another process yet."""
    os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
