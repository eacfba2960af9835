"""Equal downloads at the same moment are done once."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import Busy
from registry.remote import resolver
from registry.remote.quota import Quota
from registry.remote.reach import OpenGate
from registry.remote.resolver import Resolved
from tests import effort
from tests.conftest import skill_text
from tests.faults.sites import wait_for
from tests.remote.conftest import PATIENT
from tests.remote.entries import TEXT, entry
from tests.remote.web import Web
from tests.services.receivers import answering


class Held:
    """A server that answers after `release`, with a status for each address."""

    def __init__(self, web: Web) -> None:
        self.web, self.released = web, threading.Event()
        self.url = web.behave("/a.md", self._answer)

    def _answer(self, handler: Any) -> None:
        assert self.released.wait(effort.PATIENCE)
        answering(403 if "old" in handler.path else 200, TEXT.encode())(handler)

    def release(self) -> None:
        self.released.set()


class Counted(OpenGate):
    def __init__(self) -> None:
        self.admitted: list[str] = []

    def fetching(self) -> Any:
        self.admitted.append("fetching")
        return super().fetching()

    def waiting(self) -> Any:
        self.admitted.append("waiting")
        return super().waiting()


@pytest.fixture
def held(web: Web) -> Held:
    return Held(web)


@pytest.fixture
def start(web: Web, root: Path) -> Callable[..., "Running"]:
    return lambda *entries, **more: Running(web, root, entries, more)


class Running:
    """A call of the resolver in a thread of its own."""

    def __init__(self, web: Web, root: Path, entries: Any, more: Any) -> None:
        self.gate = Counted()
        self._results: list[Resolved] = []
        self._error: BaseException | None = None
        self._call = lambda: resolver.resolve(
            list(entries), **{"root": root, "allowed": web.allowed, "bounds": PATIENT, "gate": self.gate, **more}
        )
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        wait_for(lambda: bool(self.gate.admitted))

    def _work(self) -> None:
        try:
            self._results = self._call()
        except Busy as error:
            self._error = error

    def results(self) -> list[Resolved]:
        self._thread.join(effort.PATIENCE)
        if self._error:
            raise self._error
        return self._results


def asked(held: Held, count: int) -> None:
    wait_for(lambda: len(held.web.asked) >= count)


def test_calls_that_need_the_same_skill_share_one_download(held: Held, start: Callable[..., Running]) -> None:
    first = start(entry(held.url))
    asked(held, 1)
    others = [start(entry(f"{held.url}?signature={number}")) for number in range(3)]
    held.release()
    results = [call.results()[0] for call in (first, *others)]
    assert [one.status for one in results] == ["loaded", "cached", "cached", "cached"]
    assert {one.digest for one in results} == {Bundle({SKILL_MD: TEXT.encode()}).digest}
    assert [call.gate.admitted for call in (first, *others)] == [["fetching"]] + [["waiting"]] * 3
    assert len(held.web.asked) == 1


def test_a_failure_is_shared_with_those_that_waited_for_it(held: Held, start: Callable[..., Running]) -> None:
    first = start(entry(f"{held.url}?sig=old"))
    asked(held, 1)
    second = start(entry(f"{held.url}?sig=old"))
    held.release()
    assert {call.results()[0].reason for call in (first, second)} == {"The server answered with status 403."}
    assert len(held.web.asked) == 1


def test_a_call_with_a_newer_signature_tries_again_if_it_may_fetch(held: Held, start: Callable[..., Running]) -> None:
    first = start(entry(f"{held.url}?sig=old"))
    asked(held, 1)
    more = entry(held.web.put("/b.md", skill_text("b")), name="b")
    waiting, fetching = start(entry(f"{held.url}?sig=new")), start(entry(f"{held.url}?sig=new"), more)
    held.release()
    assert first.results()[0].status == "skipped"
    assert [one.status for one in fetching.results()] in (["loaded", "loaded"], ["cached", "loaded"])
    assert fetching.gate.admitted == ["fetching"]
    try:
        assert waiting.results()[0].status == "cached"
    except Busy as error:
        assert error.data["retry_after"] == 5


def test_the_quota_of_one_token_does_not_concern_the_others(
    held: Held, start: Callable[..., Running], root: Path
) -> None:
    """The first call may not store the skill. The second one waited for it, and has to fetch it itself."""
    first = start(entry(held.url), quota=Quota(root, "1", most=10**9, each=10))
    asked(held, 1)
    more = entry(held.web.put("/b.md", skill_text("b")), name="b")
    second = start(entry(held.url), more)
    held.release()
    assert "This token" in first.results()[0].reason
    assert [one.status for one in second.results()] == ["loaded", "loaded"]


def test_other_names_versions_and_queries_are_other_downloads(held: Held, start: Callable[..., Running]) -> None:
    wanted = [
        entry(held.url), entry(held.url, version="2"), entry(f"{held.url}?id=2"), entry(held.url, name="b"),
    ]  # fmt: skip
    calls = [start(one) for one in wanted]
    asked(held, 4)
    held.release()
    assert [call.gate.admitted for call in calls] == [["fetching"]] * 4
    for call in calls:
        call.results()
