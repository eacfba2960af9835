"""Eight processes resolve one version at the same moment: all get the same result, and no reader sees a part of it."""

import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.lib import files
from registry.remote import cache_cleanup, directories, resolver
from registry.remote.cache import Cache
from tests.conftest import skill_text
from tests.faults.resolvers import Resolvers, kill, resolver_process
from tests.faults.sites import PATIENCE
from tests.remote.web import Web, zipped
from tests.services.receivers import Receiver, answering, receiving

pytestmark = pytest.mark.races

PARTS = [f"references/part-{number}.md" for number in range(6)]
ACTORS = 8
PAUSE = threading.Event()


def package(mark: str) -> dict[str, bytes]:
    """Return files that all contain the number of their download."""
    text = skill_text("a", body=f"Download {mark}.").encode()
    return {SKILL_MD: text, **{path: f"Download {mark}.".encode() * 200 for path in PARTS}}


class Downloads(Web):
    """A server on which no two downloads of an address are the same.

    `hold` is called before each answer with the number of requests for the address so far.
    """

    def __init__(self, receiver: Receiver) -> None:
        super().__init__(receiver)
        self.hold: Callable[[int], object] = bool
        self._numbers = count(1)
        self.behave("/a.zip", self._answer)

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        number = next(self._numbers)
        self.hold(number)
        answering(200, zipped(dict(package(str(number)))))(handler)


@pytest.fixture
def web() -> Iterator[Downloads]:
    with receiving() as receiver:
        yield Downloads(receiver)


@pytest.fixture(scope="module")
def process() -> Iterator["subprocess.Popen[str]"]:
    with resolver_process() as started:
        yield started


@pytest.fixture
def pool(process: "subprocess.Popen[str]", tmp_path: Path) -> Resolvers:
    return Resolvers(process, tmp_path)


class Watcher:
    """A thread that reads a directory repeatedly, as agents do, and records inconsistent states."""

    def __init__(self, place: Path, check: Callable[[Path], str]) -> None:
        self._place, self._check = place, check
        self.faults: list[str] = []
        self.looks = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not self._stop.is_set():
            if fault := self._check(self._place):
                self.faults.append(fault)
            self.looks += 1

    def __enter__(self) -> "Watcher":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def partial(place: Path) -> str:
    """Return the fault of a directory that is incomplete or mixed, or an empty string."""
    if not place.is_dir():
        return ""
    found = {path: (place / path).read_bytes() if (place / path).is_file() else None for path in (SKILL_MD, *PARTS)}
    missing = [path for path, content in found.items() if content is None]
    if missing:
        return f"without {missing}"
    marks = {content.split(b"Download ")[1].split(b".")[0] for content in found.values() if content}
    return "" if len(marks) == 1 else f"mixed from {marks}"


def left_behind(root: Path) -> list[str]:
    return [str(path) for path in root.rglob(".*") if path.name.startswith((".new-", ".old-"))]


def definition(web: Web, version: str) -> list[dict[str, str]]:
    return [{"name": "a", "version": version, "url": web.url("/a.zip")}]


def meeting(before: int, second: threading.Event) -> Callable[[int], object]:
    def hold(number: int) -> None:
        if number - before >= 2:
            second.set()
        assert second.wait(PATIENCE)

    return hold


def on_disk(place: Path) -> str:
    tree = directories.read(place)
    assert tree is not None
    return tree.digest


def test_eight_processes_that_resolve_one_version_get_the_same_result(
    pool: Resolvers, web: Downloads, rounds: int
) -> None:
    looks = 0
    for turn in range(rounds):
        place = pool.root / "skills" / "a" / str(turn)
        second = threading.Event()
        # The first download is answered when a second one has begun, so that two processes always meet.
        web.hold = meeting(len(web.asked), second)
        with Watcher(place, partial) as watcher, pool.at_once([definition(web, str(turn))] * ACTORS, web.allowed):
            answers, ended = pool.results()
        assert watcher.faults == []
        assert ended == [0] * ACTORS
        assert {one["reason"] for one in answers} == {""}
        assert {one["digest"] for one in answers} == {on_disk(place)}
        assert "loaded" in {one["status"] for one in answers}
        assert left_behind(pool.root) == []
        assert len(list((pool.root / "skills" / "a" / ".records" / str(turn)).iterdir())) == 1
        assert second.is_set()
        looks += watcher.looks
    assert looks > rounds


def test_the_first_process_repairs_a_broken_directory(pool: Resolvers, web: Downloads, rounds: int) -> None:
    for turn in range(rounds):
        place = pool.root / "skills" / "a" / str(turn)
        place.mkdir(parents=True)
        (place / "half.md").write_text("left by something else")
        with pool.at_once([definition(web, str(turn))] * ACTORS, web.allowed):
            answers, ended = pool.results()
        assert ended == [0] * ACTORS
        assert {one["reason"] for one in answers} == {""}
        assert on_disk(place) in {one["digest"] for one in answers}
        assert partial(place) == ""
        assert left_behind(pool.root) == []


def test_killed_processes_leave_nothing_that_looks_like_a_skill(pool: Resolvers, web: Downloads, rounds: int) -> None:
    for turn in range(rounds):
        chance = random.Random(turn)
        place = pool.root / "skills" / "a" / str(turn)
        wanted = [definition(web, str(turn))] * ACTORS
        first_kill = threading.Event()
        web.hold = lambda _, killed=first_kill: killed.wait(PATIENCE)  # type: ignore[misc]
        with Watcher(place, partial) as watcher, pool.at_once(wanted, web.allowed) as pids:
            for pid in chance.sample(pids, chance.randrange(1, ACTORS)):
                PAUSE.wait(chance.uniform(0, 0.04))
                kill(pid)
                first_kill.set()
            answers, ended = pool.results()
        assert watcher.faults == []
        assert -signal.SIGKILL in ended
        assert answers
        assert {one["reason"] for one in answers} <= {""}
        assert {one["digest"] for one in answers} <= {on_disk(place) if place.exists() else ""}
        web.hold = bool
        (after,) = resolver.resolve(definition(web, str(turn)), root=pool.root, allowed=web.allowed)
        assert (after.reason, after.digest) == ("", on_disk(place))
        assert {one["digest"] for one in answers} <= {after.digest}
        _clean(pool.root)
        assert left_behind(pool.root) == []
        found = Cache(pool.root).find("a", str(turn))
        assert found is not None
        assert (found.digest, found.origin) == (after.digest, web.url("/a.zip"))


def _clean(root: Path) -> None:
    """Clean the cache as if hours had passed."""
    cache_cleanup.clean(root, clock=lambda: time.time() + 3 * cache_cleanup.GRACE_SECONDS)


def inline(text: str) -> list[dict[str, str]]:
    return [{"name": "a", "version": "1", "content": text}]


def test_texts_of_one_name_at_the_same_moment_never_mix_and_change_no_package(
    pool: Resolvers, web: Downloads, rounds: int
) -> None:
    """Each text is complete under its own digest, and the package stays. Some of the writers are killed."""
    place = pool.root / "skills" / "a" / "1"
    for turn in range(rounds):
        chance = random.Random(turn)
        files.remove(pool.root)
        (first,) = resolver.resolve(definition(web, "1"), root=pool.root, allowed=web.allowed)
        texts = [skill_text("a", body=f"Text {number} of round {turn}." * 50) for number in range(ACTORS // 2)]
        wanted = [inline(text) for text in (*texts, *texts)]
        with Watcher(place, partial) as watcher, pool.at_once(wanted, web.allowed) as pids:
            for pid in chance.sample(pids, turn % 3):
                PAUSE.wait(chance.uniform(0, 0.02))
                kill(pid)
            answers, _ = pool.results()
        assert watcher.faults == []
        assert {one["reason"] for one in answers} <= {""}
        assert on_disk(place) == first.digest
        for text in texts:
            (found,) = resolver.resolve(inline(text), root=pool.root)
            assert found.digest == Bundle({SKILL_MD: text.encode()}).digest
            assert found.directory is not None
            assert on_disk(found.directory) == found.digest
        _clean(pool.root)
        assert left_behind(pool.root) == []
        assert {path.name for path in (pool.root / "digests").iterdir()} == {
            Bundle({SKILL_MD: text.encode()}).digest.removeprefix("sha256:") for text in texts
        }
