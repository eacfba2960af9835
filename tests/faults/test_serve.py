"""`manage.py serve`: start, stop, and the state after it is killed."""

import re
import signal
import socket
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from registry.core import roles
from registry.management.commands import serve
from registry.management.commands.serve import Command
from registry.management.locks import directory_lock
from registry.models import User
from registry.services.people import accounts
from tests.faults.process_pool import process_pool
from tests.faults.sites import (
    PATIENCE,
    Server,
    Site,
    alive,
    finish,
    free_port,
    kill,
    new_site,
    serving,
    started,
    wait_for,
)

pytestmark = pytest.mark.races

QUICKLY = ("--no-prepare", "--no-worker")


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Site]:
    """Empty directories, and a database without tables."""
    with new_site(tmp_path / "fresh") as site:
        yield site


@pytest.mark.one_database
def test_it_starts_in_an_empty_directory_and_stops_every_process(fresh: Site) -> None:
    with serving(fresh) as server:
        running = server.descendants()
        assert len(running) >= 3, "a web server, its worker, and the worker for background tasks"
        assert server.stop(signal.SIGTERM) == 0, server.output
        assert not [pid for pid in running if alive(pid)]
    assert "Traceback" not in server.output
    assert re.search(rf"http://localhost:{fresh.port}/sign-in/\S{{40,}}/", server.output)
    assert (fresh.data / "skillsite.sqlite3").stat().st_mode & 0o777 == 0o600


def test_each_start_prints_a_new_link_until_an_owner_has_a_password(person: Callable[[str], User]) -> None:
    owner, printed = person(roles.OWNER), StringIO()
    Command(stdout=printed).print_sign_in()
    Command(stdout=printed).print_sign_in()
    assert len(set(re.findall(r"/sign-in/(\S+)/", printed.getvalue()))) == 2
    accounts.set_password(owner, "correct horse battery staple")
    Command(stdout=(silent := StringIO())).print_sign_in()
    assert silent.getvalue() == ""


@pytest.mark.one_database
def test_a_port_in_use_is_refused_before_anything_is_created(fresh: Site) -> None:
    with socket.socket() as other:
        # The web server sets this option too, so it would share the port without an error.
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", fresh.port))
        other.listen()
        code, output = finish(fresh.popen("manage.py", "serve"))
    assert code == 1
    assert f"Cannot use port {fresh.port} of 127.0.0.1: Address already in use." in output
    assert "Traceback" not in output
    assert not (fresh.data / "skillsite.sqlite3").exists()


@pytest.mark.one_database
def test_an_unreachable_database_is_reported_without_a_traceback(fresh: Site) -> None:
    away = replace(fresh, database_url=f"postgresql://nobody:hidden-word@127.0.0.1:{free_port()}/nothing")
    code, output = finish(away.popen("manage.py", "prepare"))
    assert code == 1
    assert "The database cannot be used" in output
    assert "Traceback" not in output
    assert "hidden-word" not in output


@pytest.mark.one_database
def test_a_volume_that_cannot_be_created_is_reported_without_a_traceback(site: Site) -> None:
    code, output = finish(site.popen("manage.py", "prepare", PERSISTENT_VOLUME_STORAGE="/dev/null/volume"))
    assert code == 1
    assert "PERSISTENT_VOLUME_STORAGE cannot be used" in output
    assert "Traceback" not in output


@pytest.mark.one_database
def test_it_can_be_stopped_while_it_waits_for_a_lock(fresh: Site) -> None:
    # These settings leave out collectstatic, which would take most of the time before the lock.
    quick = {"DJANGO_SETTINGS_MODULE": "tests.browser.settings"}
    with directory_lock(fresh.data), started(fresh, "--no-worker", **quick) as server:
        wait_for(lambda: _waits_for_a_lock(server.process.pid))
        assert server.stop(signal.SIGINT) == 0
    assert "Traceback" not in server.output


def _waits_for_a_lock(pid: int) -> bool:
    return any("->" in line and f" {pid} " in line for line in Path("/proc/locks").read_text().splitlines())


def test_a_kill_while_the_demo_is_loaded_leaves_an_empty_site(site: Site) -> None:
    with process_pool(site, 2) as pool:
        first, second = pool.children
        first.do("die_at_blob", 3)
        first.send("manage", "prepare")
        first.wait_until_killed()
        assert len(list(site.blobs.glob("*/*"))) >= 2
        assert "Created the project “demo”" in second.do("manage", "prepare")
        assert "all chains are intact" in second.do("manage", "verify_audit")


def test_several_processes_that_start_at_once_prepare_an_empty_site_once(fresh: Site) -> None:
    with process_pool(fresh, 3) as pool:
        outputs = pool.at_once("manage", [("prepare",)] * 3)
    assert sum("Created the project “demo”" in output for output in outputs) == 1


@pytest.mark.parametrize(("present", "refresh", "collected"), [(False, False, 1), (True, False, 0), (True, True, 1)])
def test_static_files_are_collected_if_they_are_missing_or_a_refresh_is_asked_for(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, present: bool, refresh: bool, collected: int
) -> None:
    called: list[Any] = []
    monkeypatch.setattr(serve, "call_command", lambda *command, **_: called.append(command))
    settings.STATIC_ROOT = tmp_path
    if present:
        (tmp_path / "staticfiles.json").touch()
    serve.collect_static_files(refresh=refresh)
    assert called == [("collectstatic",)] * collected


@pytest.mark.one_database
def test_its_processes_end_when_it_is_killed_and_it_starts_again_and_replaces_a_web_worker(site: Site) -> None:
    with serving(site, *QUICKLY) as server:
        running = server.descendants()
        kill(server.process.pid)
        assert server.ended() == -signal.SIGKILL
        wait_for(lambda: not any(alive(pid) for pid in running))
    with serving(site, *QUICKLY) as server:
        with urllib.request.urlopen(site.url("/sign-in/"), timeout=PATIENCE) as page:
            assert b"/static/" in page.read(), "a start without prepare serves pages"
        _replace_a_web_worker(server)
        assert server.stop(signal.SIGINT) == 0


def _replace_a_web_worker(server: Server) -> None:
    """Kill the web worker, and wait until the same web server has another one."""
    main, (worker,) = server.web_processes()
    kill(worker)
    wait_for(lambda: any(pid != worker for pid in server.web_processes()[1]))
    server.wait_until_up()
    assert server.web_processes()[0] == main


@pytest.mark.one_database
def test_all_processes_end_when_the_web_server_dies(site: Site) -> None:
    with serving(site, "--no-prepare") as server:
        running = server.descendants()
        kill(server.web_processes()[0])
        assert server.ended() != 0
        assert not [pid for pid in running if alive(pid)]
        wait_for(lambda: "granian` was killed by SIGKILL, so all processes of this site stop." in server.output)


@pytest.mark.one_database
def test_processes_that_start_at_once_agree_on_the_secret_key(fresh: Site) -> None:
    alone = replace(fresh, database_url="")
    code = "from django.conf import settings; print(settings.SECRET_KEY)"
    environment = {"DJANGO_SETTINGS_MODULE": "skillsite.settings"}
    started = [alone.popen("-c", code, **environment) for _ in range(4)]
    keys = {finish(process)[1] for process in started}
    assert len(keys) == 1
    assert len(keys.pop().strip()) > 50
    assert sorted(path.name for path in alone.data.iterdir()) == ["audit_key", "secret_key"]
    assert (alone.data / "secret_key").stat().st_mode & 0o777 == 0o600
