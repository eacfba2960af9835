"""A site for a benchmark: an empty directory, the settings of the benchmark, and the real server."""

import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = "/api/v1/projects/demo"


@contextmanager
def fresh() -> Iterator[Path]:
    """Make this process and its children use a new directory. Rate limits are on, but very high."""
    directory = Path(tempfile.mkdtemp(prefix="skillsite-bench-"))
    (directory / "library").mkdir()
    os.environ |= {
        "SKILLSITE_DATA": str(directory),
        "AGENT_SKILLS_DIRS": str(directory / "library"),
        "DJANGO_SETTINGS_MODULE": "bench.settings",
        "RATE_LIMIT_READ": "1000000000",
        "RATE_LIMIT_WRITE": "1000000000",
        "PORT": str(free_port()),
        "LOG_LEVEL": "WARNING",
    }
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
        os.environ.pop(name, None)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def prepare(skills: int) -> str:
    """Fill the project with this many skills, and return a token that may read and write."""
    manage("migrate", "--verbosity=0")
    manage("collectstatic", "--no-input", "--verbosity=0")
    return manage("shell", "-c", f"from bench import bulk_skills; bulk_skills.prepare({skills})").split()[-1]


def manage(*arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def served(port: int) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "manage.py", "serve", "--no-prepare", "--no-worker"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not answers(f"http://127.0.0.1:{port}/healthz"):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("The server did not start.")
            time.sleep(0.05)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def fetch(port: int, path: str, token: str) -> bytes:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        body: bytes = answer.read()
        return body


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process and its descendants have used."""
    ticks, pids = 0, [pid]
    parents = {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(directory.name)] = (int(fields[1]), int(fields[11]) + int(fields[12]))
    for one in pids:
        ticks += parents.get(one, (0, 0))[1]
        pids.extend(child for child, (parent, _) in parents.items() if parent == one)
    return ticks / os.sysconf("SC_CLK_TCK")


def machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if "model name" in line), "unknown processor")
    return f"{os.cpu_count()} cores of {model}, Python {platform.python_version()}"
