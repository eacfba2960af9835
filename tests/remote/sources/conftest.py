"""A server whose host is allowed, and the directories of git."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.sites import wait_for
from tests.remote.sources.servers import git_server
from tests.services.receivers import Receiver, receiving


@pytest.fixture
def server() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def allowed(server: Receiver) -> frozenset[str]:
    return frozenset({server.host})


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Temporary directory of git. The test fails if files or processes are left behind."""
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    yield place
    assert list(place.iterdir()) == []
    wait_for(lambda: not _processes_in(place))  # The system takes a moment to end a process that was killed.


def _processes_in(place: Path) -> list[Path]:
    return [path for path in Path("/proc").glob("[0-9]*/environ") if str(place).encode() in _environment(path)]


def _environment(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.fixture
def root(tmp_path: Path, server: Receiver) -> Path:
    """Directory of the repositories that the server serves."""
    found = tmp_path / "repositories"
    server.behave = git_server(server, found)
    return found
