"""Skills that use a capability: of the project and built in, by any of its names, in their current versions."""

from pathlib import Path

from registry.models import Project
from registry.services.capabilities import capability_users
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import on_disk, skill_bundle

FLOW = "id: flow\nversion: 1\nsteps:\n- {{id: a, uses: {}}}\n"


def files(*used: str) -> dict[str, bytes]:
    more = "".join(f"- {{id: s{number}, uses: {name}}}\n" for number, name in enumerate(used[1:]))
    return {"workflow.yaml": (FLOW.format(used[0]) + more).encode()}


def using(project: Project, *names: str) -> tuple[str, ...]:
    project.refresh_from_db()
    found = capability_users.users(project, names)
    assert found.is_complete
    return found.skills


def test_skills_of_the_project_and_built_in_ones_are_found(project: Project, library: Path, author: Actor) -> None:
    on_disk(library, "built-in", files={"workflow.yaml": files("data.echo")["workflow.yaml"]})
    built_in.index().refresh()
    skills.create(project, skill_bundle("first", files("json.render", "data.echo")), by=author)
    skills.create(project, skill_bundle("second", files("json.render")), by=author)
    skills.create(project, skill_bundle("plain"), by=author)
    assert using(project, "data.echo") == ("built-in", "first")
    assert using(project, "json.render") == ("first", "second")
    assert using(project, "date.now", "json.render") == ("first", "second")
    assert using(project, "date.now") == ()


def test_only_what_agents_get_counts(project: Project, other_project: Project, author: Actor) -> None:
    first = skills.create(project, skill_bundle("first", files("data.echo")), by=author).version
    skills.create(project, skill_bundle("off", files("data.echo")), by=author)
    skills.disable(project, "off", by=author)
    assert using(project, "data.echo") == ("first",)
    assert using(other_project, "data.echo") == ()
    skills.save(project, "first", skill_bundle("first", files("date.now")), base=first.digest, by=author)
    assert using(project, "data.echo") == ()


def test_a_file_elsewhere_in_the_bundle_is_no_workflow(project: Project, author: Actor) -> None:
    elsewhere = {"references/workflow.yaml": files("data.echo")["workflow.yaml"]}
    skills.create(project, skill_bundle("first", elsewhere), by=author)
    assert using(project, "data.echo") == ()
