"""Fixtures for all tests: a project, its members, an agent, and clients of the API, created with the real services."""

import os
import pickle
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.core.cache import cache
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.db.models.signals import post_migrate
from django.test import override_settings
from xdist.scheduler import LoadFileScheduling

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md
from registry.models import Project, User
from registry.services import permissions, throttle
from registry.services.agents import tokens
from registry.services.catalog import usage
from registry.services.people import accounts, members, projects
from registry.services.permissions import Actor
from tests import effort
from tests.api.contract import ContractClient
from tests.prepared import ensure_agent
from tests.remembered import remembered, start_test, watch_writes

effort.load_profile()

# Fixtures that give a test, or a process that it starts, a database.
_DATABASE_FIXTURES = {"db", "transactional_db", "live_server", "template", "fresh"}

# Folders and files that take longest. Workers start with them, so that no worker is left with one of them at the end.
_SLOWEST = (
    "tests/browser/test_screens.py",
    "tests/browser/",
    "tests/faults/",
    "tests/matrix/",
    "tests/api/test_conformance.py",
    "tests/web/",
    "tests/services/",
)


class _Scheduling(LoadFileScheduling):
    """Give whole files to workers, so that each module sets up its fixtures once.

    The pages of test_screens.py go to one worker and all other browser tests to another, because a site, its content
    and a browser take six seconds to start.
    """

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        shared = file.startswith("tests/browser/") and not file.endswith("/test_screens.py")
        return "tests/browser/" if shared else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    config.option.loadscopereorder = False  # Files keep the order of pytest_collection_modifyitems.
    return _Scheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    refuse_equal_ids(items)
    for item in items:
        if _measures_cpu_time(item):
            item.add_marker("cpu")
    if hasattr(config, "workerinput"):
        items.sort(key=_place_in_line)
    if "DATABASE_URL" in os.environ:
        config.hook.pytest_deselected(items=[item for item in items if not _uses_a_database(item)])
        items[:] = [item for item in items if _uses_a_database(item)]


def refuse_equal_ids(items: list[pytest.Item]) -> None:
    """Raise an error for two tests with one node id. The scheduler counts by id, and would run only one of them."""
    twice = [nodeid for nodeid, number in Counter(item.nodeid for item in items).items() if number > 1]
    if twice:
        raise ValueError(f"Several tests have the same id: {', '.join(twice)}")


def _measures_cpu_time(item: pytest.Item) -> bool:
    """Return True for a test that calls tests/cpu.py. Tests beside it would add to its CPU time."""
    code = getattr(getattr(item, "function", None), "__code__", None)
    return code is not None and not {"cpu", "within"}.isdisjoint(code.co_names)


def _place_in_line(item: pytest.Item) -> int:
    return next((number for number, start in enumerate(_SLOWEST) if item.nodeid.startswith(start)), len(_SLOWEST))


def _uses_a_database(item: pytest.Item) -> bool:
    """Return False for a test that cannot fail on PostgreSQL alone."""
    if item.get_closest_marker("one_database"):
        return False
    named = set(getattr(item, "fixturenames", ()))
    return bool(named & _DATABASE_FIXTURES) or item.get_closest_marker("django_db") is not None


@pytest.fixture(scope="session", autouse=True)
def quick_settings() -> Iterator[None]:
    from django.conf import settings

    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        STORAGES={**settings.STORAGES, "staticfiles": plain},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        # Without this, each test client lists all static files first, and warns if none were collected.
        WHITENOISE_AUTOREFRESH=True,
        SKILLS_RELOAD_SECONDS=0,
        USAGE_FLUSH_SECONDS=3_600,
    ):
        yield


@pytest.fixture(scope="session", autouse=True)
def no_rows_after_flush() -> None:
    """Keep Django from writing permissions and content types each time a live-server test empties the database.

    The site uses neither.
    """
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)


@pytest.fixture(scope="session", autouse=True)
def one_rate_window() -> Iterator[None]:
    """Stop the clock of the rate limits. A minute that begins during a test would reset its counts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(throttle, "time", SimpleNamespace(time=lambda: 1_000_010.0))
        yield


@pytest.fixture(scope="session", autouse=True)
def noticed_writes() -> Iterator[None]:
    with watch_writes():
        yield


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clear rate limits, load counts and the heads of the audit log after each test."""
    from django.conf import settings

    start_test(monkeypatch)
    yield
    settings.AUDIT_HEADS_FILE.unlink(missing_ok=True)
    cache.clear()
    usage.discard()


def _not_used() -> None:
    """Replace a fixture of pytest-django, for markers and classes that no test uses.

    pytest-django sets these up for each test, which took 40 % of the time of an empty test. `tests/architecture` checks
    that no test needs them.
    """


_django_clear_site_cache = pytest.fixture(scope="session")(_not_used)
_django_isolate_apps = pytest.fixture(scope="session")(_not_used)
_django_set_urlconf = pytest.fixture(scope="session")(_not_used)
_django_setup_unittest = pytest.fixture(scope="session")(_not_used)
_template_string_if_invalid_marker = pytest.fixture(scope="session")(_not_used)


@contextmanager
def keep_connection() -> Iterator[None]:
    """Keep the database connection open between requests, because it holds the transaction of the test.

    The test client of Django does so itself, and ends it after each request.
    """
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


@pytest.fixture
def same_connection() -> Iterator[None]:
    with keep_connection():
        yield


@pytest.fixture
def library(tmp_path: Path, settings: Any) -> Path:
    """An empty directory of built-in skills, in place of `registry/library`."""
    root = tmp_path / "library"
    root.mkdir()
    settings.AGENT_SKILLS_DIRS = [root]
    return root


@pytest.fixture
def operator() -> Actor:
    return permissions.operator()


@pytest.fixture
@remembered
def project(db: None, library: Path, operator: Actor) -> Project:
    """The project “demo”, without built-in skills."""
    return projects.create(slug="demo", name="Demo", by=operator)


@pytest.fixture
@remembered
def other_project(db: None, library: Path, operator: Actor) -> Project:
    return projects.create(slug="other", name="Other", by=operator)


@pytest.fixture
def person(project: Project, operator: Actor) -> Callable[[str], User]:
    """Return a function that creates a member with a role. The role is also the username."""

    return lambda role: _member(project, role, operator)


@remembered
def _member(project: Project, role: str, by: Actor) -> User:
    user = User.objects.filter(username=role).first() or accounts.create_user(role, by=by)
    members.set_role(project, user, role, by=by)
    return user


@pytest.fixture
@remembered
def author(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person(roles.AUTHOR), project)


@pytest.fixture
@remembered
def viewer(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person(roles.VIEWER), project)


class Api:
    """A client of the API of one project, with the token of one caller."""

    def __init__(self, project: Project, secret: str) -> None:
        self.base = f"/api/v1/projects/{project.slug}"
        self.headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        self.client = ContractClient(raise_request_exception=True)

    def get(self, path: str, headers: dict[str, str] | None = None, **query: str) -> Any:
        return self.client.get(f"{self.base}{path}", query, headers={**self.headers, **(headers or {})})

    def send(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        return self.client.generic(
            method,
            f"{self.base}{path}",
            data=body if isinstance(body, (bytes, str)) else _json(body),
            content_type="application/json",
            headers={**self.headers, **(headers or {})},
        )

    def upload(self, content: bytes, query: str = "", **fields: str) -> Any:
        from django.core.files.uploadedfile import SimpleUploadedFile

        file = SimpleUploadedFile("skill.zip", content, content_type="application/zip")
        return self.client.post(f"{self.base}/bundles{query}", {"file": file, **fields}, headers=self.headers)


def _json(body: Any) -> str:
    import json

    return "" if body is None else json.dumps(body)


@pytest.fixture
def api(project: Project, operator: Actor) -> Callable[..., Api]:
    """Return a function that creates a client with the token of an agent."""

    def make(*scopes: str, agent: str = "bot", where: Project = project) -> Api:
        return Api(where, agent_token(where, agent, scopes or ("read",), operator))

    return make


@remembered
def agent_token(project: Project, name: str, scopes: tuple[str, ...], by: Actor) -> str:
    """Return a token of an agent, which is created if it does not exist."""
    return tokens.create_token(project, agent=ensure_agent(project, name, by=by), scopes=scopes, by=by)


def skill_text(name: str = "greeting", description: str = "", body: str = "", **more: Any) -> str:
    """Return a SKILL.md. Tests ask for the same few thousands of times, so each is composed once."""
    return _skill_text(pickle.dumps({"name": name, "description": description, "body": body, **more}))


@lru_cache(2_000)
def _skill_text(given: bytes) -> str:
    more = pickle.loads(given)  # noqa: S301 - these bytes were created above
    name, description, body = more.pop("name"), more.pop("description"), more.pop("body")
    return skill_md.compose(
        name=name,
        description=description or f"Does what {name} does for the team. Use when somebody asks for {name}.",
        instructions=body or f"# {name}\n\nFollow the steps of {name}.",
        **more,
    )


def skill_bundle(name: str = "greeting", files: dict[str, bytes] | None = None, **more: Any) -> Bundle:
    return Bundle({SKILL_MD: skill_text(name, **more).encode(), **(files or {})})


def on_disk(root: Path, name: str = "greeting", files: dict[str, bytes] | None = None, **more: Any) -> Path:
    """Write a built-in skill into a directory."""
    directory = root / name
    for path, content in skill_bundle(name, files, **more).items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return directory


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Return a table of answers to name lookups. Each lookup of a name takes the next answer; the last one stays."""
    known: dict[str, list[str]] = {}
    real = socket.getaddrinfo

    def lookup(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host not in known:
            return real(host, port, *rest, **more)
        address = known[host].pop(0) if len(known[host]) > 1 else known[host][0]
        return real(address, port, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    return known
