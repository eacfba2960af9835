"""The matrix of routes and identities. The URL conf gives the routes, and `access.py` the expected outcomes."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from registry.models import Project
from registry.services.permissions import Actor
from tests.matrix import world as worlds
from tests.matrix.access import PAGES, PROGRAM_ROUTES, ROUTES, levels
from tests.matrix.levels import FOR_PEOPLE, FOR_PROGRAMS, PEOPLE, PROGRAMS
from tests.matrix.outcomes import NO_METHOD, ask, outcome
from tests.matrix.routes import every_route, methods
from tests.matrix.world import HIDDEN, World

# Never used for a project, a skill, an agent or a number.
ABSENT = "absent-one"
_FRESH = re.compile(rb'(csrfmiddlewaretoken" value="|X-CSRFToken[^:]*: ?\W*)[A-Za-z0-9]+')


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Keep thousands of refused requests out of the log."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def world(project: Project, library: Path, operator: Actor, settings: Any) -> World:
    settings.RATE_LIMIT_READ = settings.RATE_LIMIT_WRITE = settings.RATE_LIMIT_PUBLIC = 0
    settings.PUBLIC_ROOT_PROJECTS = ["open"]
    return worlds.create(project, library, operator)


def test_every_route_has_a_row_and_every_row_a_route() -> None:
    assert sorted(set(every_route()) ^ ROUTES.keys()) == []


@pytest.mark.parametrize(
    ("table", "identities", "expected"),
    [(PAGES, PEOPLE, FOR_PEOPLE), (PROGRAM_ROUTES, PROGRAMS, FOR_PROGRAMS)],
    ids=["pages", "programs"],
)
def test_everybody_gets_what_the_table_says(
    world: World, table: dict[str, str], identities: tuple[str, ...], expected: dict[str, str]
) -> None:
    wrong = []
    for route in table:
        for method, level in levels(route).items():
            found = "".join(outcome(ask(world, who, method, world.address(route, who))) for who in identities)
            if found != expected[level]:
                wrong.append(f"{method} {route}: {found}, and not {expected[level]}")
    assert not wrong, "\n".join(wrong)


def test_other_methods_are_refused_to_whoever_may_do_most(world: World) -> None:
    wrong = []
    for route in ROUTES:
        who = "owner" if route in PAGES else "reader" if route.startswith("t/") else "manager"
        for method in methods(route):
            if method not in levels(route):
                found = outcome(ask(world, who, method, world.address(route, who)))
                if found != NO_METHOD:
                    wrong.append(f"{method} {route}: {found}")
    assert not wrong, "\n".join(wrong)


def normal(response: Any, name: str) -> tuple[int, bytes]:
    """Return the status and the body, without the name from the address and without random values."""
    body = b"" if response.streaming else response.content
    return response.status_code, _FRESH.sub(rb"\1", body).replace(name.encode(), b"NAME")


def differences(world: World, who: str, part: str, names: tuple[str, str], routes: list[str]) -> Iterator[str]:
    """Yield the routes that answer differently for two names."""
    for route in routes:
        method = next(iter(levels(route)))
        answers = [normal(ask(world, who, method, world.address(route, who, **{part: name})), name) for name in names]
        if answers[0] != answers[1]:
            yield f"{method} {route} as {who}: {[status for status, _ in answers]}"


def test_nobody_outside_a_project_can_tell_that_it_exists(world: World) -> None:
    pages = [route for route in ROUTES if "<slug:slug>" in route and "<int:" not in route]
    operations = [route for route in ROUTES if "<str:project>" in route]
    names = (world.project.slug, ABSENT)
    found = [
        line for who in ("stranger", "outsider", "staff") for line in differences(world, who, "slug", names, pages)
    ]
    for who in ("stranger", "foreign", "revoked"):
        found += differences(world, who, "project", names, operations)
    assert found == []


def test_a_limited_agent_cannot_tell_a_hidden_skill_from_a_missing_one(world: World) -> None:
    routes = [route for route in PROGRAM_ROUTES if "/<str:project>/skills/<str:name>" in route]
    assert list(differences(world, "limited", "name", (HIDDEN, ABSENT), routes)) == []
