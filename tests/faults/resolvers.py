"""Processes that resolve definitions on one volume, all at the same moment, and may be killed in the middle.

One is started and has everything loaded; each line of JSON it is told becomes a child that waits at the gate, resolves,
and writes what it got to a file.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from registry.remote import resolver
from tests.faults.sites import PATIENCE, ROOT


def work(told: dict[str, Any]) -> None:
    with Path(told["gate"]).open() as gate:
        fcntl.flock(gate, fcntl.LOCK_SH)
    results = resolver.resolve(
        told["given"],
        root=told["root"],
        allowed=frozenset(told["allowed"]),
        bounds=resolver.Bounds(each=PATIENCE, all=PATIENCE),
    )
    said = [{"status": one.status, "reason": one.reason, "digest": one.digest} for one in results]
    fresh = Path(told["answer"] + ".new")
    fresh.write_text(json.dumps(said))
    fresh.rename(told["answer"])


def main() -> None:
    for line in sys.stdin:
        told = json.loads(line)
        if told == "reap":
            print(json.dumps(_reaped()), flush=True)  # noqa: T201 - this is how it answers
            continue
        child = os.fork()
        if not child:
            work(told)
            os._exit(0)
        print(child, flush=True)  # noqa: T201


def _reaped() -> list[int]:
    ended = []
    while True:
        try:
            ended.append(os.waitstatus_to_exitcode(os.wait()[1]))
        except ChildProcessError:
            return ended


class Resolvers:
    def __init__(self, process: "subprocess.Popen[str]", directory: Path) -> None:
        self._process, self._directory = process, directory
        self.root, self.gate = directory / "volume", directory / "gate"
        self.gate.touch()

    def _tell(self, told: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    @contextmanager
    def at_once(self, given: Sequence[Any], allowed: Sequence[str]) -> Iterator[list[int]]:
        """Children with these definitions, let go when the block is entered; `answers` tells what became of them."""
        self._wanted = [self._directory / f"answer-{number}" for number in range(len(given))]
        for path in self._wanted:
            path.unlink(missing_ok=True)
        with self.gate.open("a") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            pids = [
                self._tell(
                    {"gate": str(self.gate), "root": str(self.root), "given": one, "allowed": list(allowed),
                     "answer": str(path)}
                )
                for one, path in zip(given, self._wanted, strict=True)
            ]  # fmt: skip
        yield pids

    def answers(self) -> tuple[list[Any], list[int]]:
        """What those that were not killed got, and how each child ended."""
        ended = self._tell("reap")
        return [json.loads(path.read_text())[0] for path in self._wanted if path.exists()], ended


@contextmanager
def resolvers(directory: Path) -> Iterator[Resolvers]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.resolvers"], cwd=ROOT, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield Resolvers(process, directory)
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
    """The child is reaped later, so its number stands for nobody else."""
    os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
