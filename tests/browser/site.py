"""A real server for the browser tests, and services that create data in its database."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from urllib.request import Request, urlopen

from django.conf import settings
from django.db import connections
from django.test import Client, override_settings

from registry.core import roles
from registry.models import Project, User
from registry.services import permissions
from registry.services.people import accounts, members, projects
from registry.services.permissions import Actor
from tests.browser import registered
from tests.faults import sites

_HERE = "127.0.0.1"  # where tests have the sources that the site goes to
_LIBRARY = sites.ROOT / "registry" / "library"
_NAMES = {
    roles.OWNER: "Ines Marchetti",
    roles.REVIEWER: "Tomás Ferreira",
    roles.AUTHOR: "Ada Okafor",
    roles.VIEWER: "Jun Watanabe",
}

P, R = ParamSpec("P"), TypeVar("R")


class Site:
    """A running server.

    `do` runs in a separate thread, which is connected to the database of the server. The thread of the test cannot be:
    Playwright runs an event loop there, and Django refuses to use a database inside one.
    """

    def __init__(
        self, place: sites.Site, environment: dict[str, str], address: str, library: Path, hand: ThreadPoolExecutor
    ) -> None:
        self._place = place
        self._environment = environment
        self.address = address
        self.library = library
        self._hand = hand
        self._teams = 0

    def do(self, verb: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return self._hand.submit(verb, *args, **kwargs).result()

    @contextmanager
    def worker(self) -> Iterator[None]:
        """Run a worker process, which carries the runs of all projects."""
        process = self._place.popen("manage.py", "worker", **self._environment)
        try:
            yield
            assert process.poll() is None, "the worker has ended"
        finally:
            process.terminate()
            sites.finish(process)

    def look(self, path: str, session: str) -> str:
        """Return a page as the server shows it now."""
        asked = Request(f"{self.address}{path}", headers={"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}"})
        with urlopen(asked) as answer:
            return str(answer.read().decode())

    def team(self) -> "Team":
        self._teams += 1
        slug = f"team-{self._teams}"
        return Team(self, self.do(projects.create, slug=slug, name=f"Team {self._teams}", by=permissions.operator()))


class Team:
    """A project for one test. Its members are created when a test first needs them."""

    def __init__(self, site: Site, project: Project) -> None:
        self.site = site
        self.project = project
        self.base = f"/projects/{project.slug}"
        self._people: dict[str, User] = {}

    @property
    def people(self) -> dict[str, User]:
        """Return the members that were created or adopted, by their role."""
        return dict(self._people)

    def person(self, role: str) -> User:
        if role not in self._people:
            self._people[role] = self.site.do(self._make, role)
        return self._people[role]

    def adopt(self, people: dict[str, User]) -> None:
        """Use existing members, by their role."""
        self._people.update(people)

    def _make(self, role: str) -> User:
        by, username = permissions.operator(), f"{role}-{self.project.slug}"
        user = accounts.create_user(username, full_name=_NAMES[role], staff=role == roles.OWNER, by=by)
        members.set_role(self.project, user, role, by=by)
        return user

    def actor(self, role: str) -> Actor:
        return self.site.do(permissions.person, self.person(role), self.project)

    def session(self, role: str) -> str:
        """Return the session cookie of a signed-in member."""
        return self.site.do(_signed_in, self.person(role))


def _signed_in(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


@contextmanager
def running(directory: Path, *, template: str = "", **more: str) -> Iterator[Site]:
    """Start a server on the data directory of this process, so that both have the same key and the same files.

    Its database is a copy of `template`, or migrated now.
    """
    place = sites.Site(directory, "", sites.free_port())
    library = directory / "library"
    shutil.copytree(_LIBRARY, library)
    (directory / "tmp").mkdir()
    capabilities = directory / "capabilities"
    registered.write_files(capabilities)
    address = f"http://127.0.0.1:{place.port}"
    own = {
        "SKILLSITE_DATA": str(settings.SKILLSITE_DATA),
        "DJANGO_SETTINGS_MODULE": "tests.browser.settings",
        "SKILLS_RELOAD_SECONDS": "1",
        "CAPABILITIES_DIRS": str(capabilities),
        "PUBLIC_URL": address,
        "SKILLS_FETCH_ALLOW_HOSTS": _HERE,
        **more,
    }
    with (
        override_settings(AGENT_SKILLS_DIRS=[library], SKILLS_FETCH_ALLOW_HOSTS=[_HERE]),
        ThreadPoolExecutor(1, initializer=_connect, initargs=(settings.SKILLSITE_DATA / "skillsite.sqlite3",)) as hand,
    ):
        if template:
            shutil.copy(template, settings.SKILLSITE_DATA / "skillsite.sqlite3")
        else:
            # In a process of its own: within this one, migrations may be switched off for the other tests.
            place.manage("migrate", "--verbosity=0", **own)
        with sites.serving(place, "--no-prepare", "--no-worker", **own):
            try:
                yield Site(place, own, address, library, hand)
            finally:
                hand.submit(connections.close_all).result()


def _connect(database: Path) -> None:
    """Connect this thread to the database of the server instead of that of the tests."""
    wrapper: Any = connections.create_connection("default")
    wrapper.settings_dict = {**wrapper.settings_dict, "NAME": str(database)}
    connections["default"] = wrapper
