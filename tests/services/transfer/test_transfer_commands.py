"""The commands `export_project` and `import_project`."""

import io
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from registry.models import Project, Skill
from tests.services.footprint import nothing_left_behind


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_the_commands_print_their_results(mixed: Project, other_project: Project, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert said("export_project", "demo", out) == f"4 skills in {out}; 7 files written.\n"
    assert said("import_project", "other", out, "--dry-run").splitlines()[0] == "override covered 1"
    assert said("import_project", "other", out).splitlines()[-1] == "create off 1"


def test_a_refused_skill_is_printed_and_sets_the_exit_code(
    mixed: Project, other_project: Project, tmp_path: Path
) -> None:
    call_command("export_project", "demo", str(tmp_path / "out"), stdout=io.StringIO())
    (tmp_path / "out/named/SKILL.md").write_bytes(b"")
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 was refused") as refused:
        call_command("import_project", "other", str(tmp_path / "out"), stdout=out, stderr=out)
    assert refused.value.returncode == 1
    assert "refused named SKILL.md" in out.getvalue()
    assert Skill.objects.filter(project=other_project).count() == 3


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("export_project", "nothing", "{}/out"), "There is no project 'nothing'"),
        (("import_project", "nothing", "{}"), "There is no project 'nothing'"),
        (("import_project", "demo", "{}/missing"), "There is no file or directory"),
        (("export_project", "demo", "{}/there.zip"), "File exists"),
        (("export_project", "demo", "{}/no/such.zip"), "No such file"),
        (("export_project", "demo", "{}"), "is not empty"),
    ],
)
def test_the_commands_refuse_invalid_arguments(
    project: Project, tmp_path: Path, arguments: tuple[str, ...], reason: str
) -> None:
    (tmp_path / "there.zip").write_bytes(b"")
    with nothing_left_behind(), pytest.raises(CommandError, match=reason):
        call_command(*(argument.format(tmp_path) for argument in arguments))
