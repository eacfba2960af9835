"""Sites for tests: a data directory, a database, and real processes."""

import fcntl
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests import effort

ROOT = Path(__file__).resolve().parents[2]
SERVER_URL = os.environ.get("DATABASE_URL", "")
PATIENCE = effort.PATIENCE


@dataclass(frozen=True)
class Site:
    directory: Path
    database_url: str
    port: int

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def blobs(self) -> Path:
        return self.data / "blobs"

    @property
    def environment(self) -> dict[str, str]:
        ours = {
            "SKILLSITE_DATA": str(self.data),
            "AGENT_SKILLS_DIRS": str(self.directory / "library"),
            "TMPDIR": str(self.directory / "tmp"),
            "PORT": str(self.port),
            "LOG_LEVEL": "WARNING",
            "PYTHONUNBUFFERED": "1",
        }
        if self.database_url:
            ours |= {"DATABASE_URL": self.database_url, "SECRET_KEY": "only-for-tests" * 4}
        return {name: value for name, value in os.environ.items() if name not in _OUTSIDE} | ours

    def popen(self, *command: str, **more: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, env=self.environment | more, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def manage(self, *arguments: str, **more: str) -> str:
        """Run a management command, which must succeed, and return its output."""
        code, output = finish(self.popen("manage.py", *arguments, **more))
        assert code == 0, output
        return output

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


_OUTSIDE = {"DATABASE_URL", "SECRET_KEY", "HOST", "WEB_WORKERS", "WEB_THREADS", "DJANGO_SETTINGS_MODULE"}


def finish(process: "subprocess.Popen[str]") -> tuple[int, str]:
    output, _ = process.communicate(timeout=PATIENCE)
    return process.returncode, output


@contextmanager
def new_site(directory: Path, *, template: str = "") -> Iterator[Site]:
    """Create a site with an empty database, or with a copy of the database `template`."""
    site = _create(directory, template)
    try:
        yield site
    finally:
        if site.database_url:
            run_on_server(f"DROP DATABASE {_database(site)} WITH (FORCE)")


def _create(directory: Path, template: str) -> Site:
    for part in ("data", "library", "tmp"):
        (directory / part).mkdir(parents=True)
    if not SERVER_URL:
        if template:
            shutil.copy(template, directory / "data" / "skillsite.sqlite3")
        return Site(directory, "", free_port())
    name = f"skillsite_{secrets.token_hex(6)}"
    run_on_server(f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else ""))
    return Site(directory, urlunsplit(urlsplit(SERVER_URL)._replace(path=f"/{name}")), free_port())


def run_on_server(statement: str) -> None:
    with psycopg.connect(SERVER_URL, autocommit=True) as connection:
        connection.execute(statement)


def _database(site: Site) -> str:
    return urlsplit(site.database_url).path[1:]


def shared_template(own_directory: Path) -> str:
    """Return the template for `new_site`: a database file, or the name of a PostgreSQL database.

    The first caller of a test run migrates it, for all workers of pytest. It ends with the run: the file is in the
    temporary directory, and `tests.postgres` stops its server.
    """
    shared = own_directory.parent if "PYTEST_XDIST_WORKER" in os.environ else own_directory
    name = shared / "template-name"
    with (shared / "template-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not name.exists():
            site = _create(shared / "template", "")
            site.manage("migrate", "--verbosity=0")
            name.write_text(_database(site) or str(site.data / "skillsite.sqlite3"))
    return name.read_text()


# Below the range from which the system takes ports for outgoing connections, so that none of them is in the way.
_PORTS = range(20_000, 32_000)


def free_port() -> int:
    """Return a port that nothing listens at. A file lock reserves it until this process ends."""
    for port in _PORTS:
        lock = os.open(Path(tempfile.gettempdir()) / f"skillsite-test-port-{port}", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            os.close(lock)
            continue
        return port  # The lock stays open.
    raise RuntimeError("Every port for tests is in use.")


class Server:
    """`manage.py serve` of a site, and its output."""

    def __init__(self, site: Site, *options: str, **environment: str) -> None:
        self.site = site
        self.process = site.popen("manage.py", "serve", *options, **environment)
        self.lines: list[str] = []
        self.gone = False
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        self.lines.extend(self.process.stdout)

    @property
    def output(self) -> str:
        return "".join(self.lines)

    def wait_until_up(self) -> "Server":
        wait_for(lambda: answers(self.site) or self.process.poll() is not None)
        assert self.process.poll() is None, self.output
        return self

    def descendants(self) -> list[int]:
        return descendants(self.process.pid)

    def web_processes(self) -> tuple[int, list[int]]:
        """Return the main process of the web server, and its worker processes."""
        main, *workers = [pid for pid in self.descendants() if "granian" in _command_line(pid)]
        return main, workers

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """Wait until all its processes have ended, and return the exit code."""
        code = self.process.wait(PATIENCE)
        self.gone = True
        self._reader.join(PATIENCE)
        assert not self._reader.is_alive(), "a process of the server is still running"
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()
        return code

    def kill_all(self) -> None:
        """Kill every process at once, as a power cut does."""
        for pid in (self.process.pid, *self.descendants()):
            kill(pid)
        self.ended()


@contextmanager
def started(site: Site, *options: str, **environment: str) -> Iterator[Server]:
    """Start a server without waiting until it answers. All its processes end with the block."""
    server = Server(site, *options, **environment)
    try:
        yield server
    finally:
        if not server.gone:
            server.kill_all()


@contextmanager
def serving(site: Site, *options: str, **environment: str) -> Iterator[Server]:
    with started(site, *options, **environment) as server:
        yield server.wait_until_up()


def answers(site: Site) -> bool:
    try:
        with urllib.request.urlopen(site.url("/healthz"), timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        pause.wait(0.02)


def descendants(pid: int) -> list[int]:
    """Return the running children of a process, and their children."""
    parents: dict[int, int] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (directory / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(directory.name)] = int(parent)
    found = [child for child, parent in parents.items() if parent == pid]
    for child in found:
        found.extend(grandchild for grandchild, parent in parents.items() if parent == child)
    return found


def _command_line(pid: int) -> str:
    """Return the command of a process, or an empty string if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def alive(pid: int) -> bool:
    return state_of(pid) not in ("", "Z")


def state_of(pid: int) -> str:
    """Return the letter of the state of a process, such as T for a stopped one, or an empty string."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
