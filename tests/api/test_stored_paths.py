"""Skills from before a path was refused: they are served and can be replaced, but not saved again as they are."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from registry.core.archive.zip_bundle import write_zip
from registry.models import Project, Version
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.conftest import Api, skill_bundle, skill_text
from tests.prepared import create_skill

PATH = "notes~1.md"


@pytest.fixture
def bot(project: Project, api: Callable[..., Api], author: Actor) -> Api:
    """Return a caller for a project with a skill whose file has a path that is refused now."""
    version = create_skill(project, skill_bundle("old", {"notes.md": b"x"}), note="", by=author).version
    renamed = [replace(entry, path=PATH) if entry.path == "notes.md" else entry for entry in version.manifest]
    Version.objects.filter(pk=version.pk).update(manifest=tuple(renamed))
    return api("read", "write")


def test_the_skill_is_served_and_can_be_replaced(bot: Api, project: Project) -> None:
    assert bot.get("/skills/old").json()["files"][1]["path"] == PATH
    assert catalog.load(project.pk, "old").bundle()[PATH] == b"x"
    answer = bot.upload(write_zip(skill_bundle("old", {"notes.md": b"y"})))
    assert (answer.status_code, answer.json()["version"]) == (201, "2")


def test_a_new_version_with_the_path_is_refused_and_names_it(bot: Api) -> None:
    digest = bot.get("/skills/old").json()["digest"]
    body = {"skill_md": skill_text("old", body="New.")}
    answer = bot.send("PUT", "/skills/old", body, headers={"If-Match": f'"{digest}"'})
    assert PATH in problem(answer, 400, "unsafe-path")["detail"]
