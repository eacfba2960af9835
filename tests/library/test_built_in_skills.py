"""The built-in skills follow the rules of the registry, and their scripts work."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import registry
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog.token_estimate import estimate
from registry.core.findings import Severity, errors
from registry.core.format import skill_md
from registry.core.format.skill_md import KNOWLEDGE, TOOL, SkillMd
from registry.core.limits import DEFAULT
from registry.core.lint import rules
from registry.core.scan import invisible
from registry.core.text.shorten import shorten
from registry.core.workflows.plan import FILE
from tests import effort
from tests.directories import read_files

pytestmark = pytest.mark.processes

LIBRARY = Path(registry.__file__).parent / "library"
NAMES = sorted(path.name for path in LIBRARY.iterdir() if path.is_dir())
FOLDERS = ("references", "scripts", "assets")
AT_THE_ROOT = (SKILL_MD, FILE)
PYTHON_SCRIPTS = sorted(LIBRARY.glob("*/scripts/*.py"))
SPEC_KEYS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}


@cache
def load(name: str) -> Bundle:
    return Bundle(read_files(LIBRARY / name))


@cache
def read(name: str) -> SkillMd:
    return skill_md.read(load(name)[SKILL_MD])


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    path = LIBRARY / script
    program = [sys.executable, "-I", "-S", "-B"] if path.suffix == ".py" else ["sh"]
    return subprocess.run(
        [*program, path, *map(str, arguments)], capture_output=True, text=True, timeout=effort.PATIENCE, check=False
    )


def links(text: str) -> set[str]:
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    return {target for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose) if "://" not in target}


# What every skill keeps.


@pytest.mark.parametrize("name", NAMES)
def test_the_name_matches_the_directory_without_warnings(name: str) -> None:
    skill = read(name)
    assert skill.name == name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert skill.warnings == ()


@pytest.mark.parametrize("name", NAMES)
def test_strict_lint_has_no_error_and_no_warning(name: str) -> None:
    found = rules.lint(read(name), load(name), authoring=True, known_names=NAMES, directory=name)
    assert [finding for finding in found if finding.severity is not Severity.HINT] == []


def test_lint_would_notice_a_skill_in_the_wrong_directory() -> None:
    found = rules.lint(read(NAMES[0]), load(NAMES[0]), authoring=True, known_names=NAMES, directory=NAMES[1])
    assert len(errors(found)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_header_uses_only_what_every_client_reads(name: str) -> None:
    content = load(name)[SKILL_MD]
    skill = skill_md.read(content)
    header = content.decode().split("---\n")[1]
    assert content.startswith(b"---\n")
    assert set(skill.document.fields) <= SPEC_KEYS
    assert re.search(r'^description: "[^"<>]+"$', header, re.M)
    assert "---" not in header
    inside = header.partition("metadata:\n")[2].splitlines()
    assert inside
    assert all(re.fullmatch(r'  [a-z]+: "[^"]+"', line) for line in inside)


@pytest.mark.parametrize("name", NAMES)
def test_description_says_when_to_use_it_before_the_catalog_cuts_it(name: str) -> None:
    description = read(name).description
    assert 80 <= len(description) <= DEFAULT.description_chars
    what, when = re.split(r"(?<=\.) (?=[A-Z])", description)[:2]
    assert re.match(r"Use (when|for) ", when)
    assert f"{what} {when}" in shorten(description, DEFAULT.catalog_description_chars)


@pytest.mark.parametrize("name", NAMES)
def test_description_sends_readers_only_to_other_built_in_skills(name: str) -> None:
    named = re.findall(r"`([^`]+)`", read(name).description)
    assert set(named) <= set(NAMES) - {name}


@pytest.mark.parametrize("name", NAMES)
def test_triggers_are_ten_to_twenty_short_phrases(name: str) -> None:
    triggers = read(name).triggers
    assert 10 <= len(triggers) <= 20
    assert max(len(trigger.split()) for trigger in triggers) <= 6


@pytest.mark.parametrize("name", NAMES)
def test_body_is_cheap_enough_to_load_whole(name: str) -> None:
    assert 300 < estimate(read(name).instructions) < DEFAULT.soft_tokens


@pytest.mark.parametrize("name", NAMES)
def test_files_are_plain_text_without_hidden_characters(name: str) -> None:
    for path, content in load(name).items():
        text = content.decode()
        assert invisible.scan(text) == (), path
        assert "\r" not in text, path
        assert text.endswith("\n"), path


@pytest.mark.parametrize("name", NAMES)
def test_links_resolve_and_every_file_is_named_in_the_instructions(name: str) -> None:
    bundle = load(name)
    text = bundle[SKILL_MD].decode()
    assert links(text) <= set(bundle)
    assert [path for path in bundle if path != SKILL_MD and path not in text] == []
    assert all(path in AT_THE_ROOT or path.split("/")[0] in FOLDERS for path in bundle)


@pytest.mark.parametrize("name", NAMES)
def test_required_skills_exist_without_cycles(name: str) -> None:
    reached: set[str] = set()
    waiting = list(read(name).requires)
    while waiting:
        required = waiting.pop()
        assert required in NAMES
        assert required != name
        if required not in reached:
            reached.add(required)
            waiting += read(required).requires


# What the set as a whole shows of the format.


def test_the_library_has_both_kinds_all_folders_and_some_versions() -> None:
    skills = {name: read(name) for name in NAMES}
    assert len(skills) >= 12
    assert {skill.kind for skill in skills.values()} == {KNOWLEDGE, TOOL}
    for folder in FOLDERS:
        assert list(LIBRARY.glob(f"*/{folder}/*")), folder
    assert any(skill.requires for skill in skills.values())
    assert any(skill.triggers for skill in skills.values())
    assert max(len(load(name)) for name in NAMES) >= 4
    versioned = sum(skill.version is not None for skill in skills.values())
    assert 0 < versioned < len(skills)


def test_library_serves_every_domain() -> None:
    tags = {tag for name in NAMES for tag in read(name).tags}
    assert {"writing", "operations", "data", "support", "engineering", "office"} <= tags


def test_no_trigger_belongs_to_two_skills() -> None:
    owners: dict[str, str] = {}
    for name in NAMES:
        for trigger in read(name).triggers:
            assert owners.setdefault(trigger.lower(), name) == name, trigger


# Scripts.


@pytest.mark.parametrize("script", PYTHON_SCRIPTS, ids=lambda path: path.name)
def test_python_scripts_explain_themselves_and_import_only_the_standard_library(script: Path) -> None:
    done = run(str(script.relative_to(LIBRARY)), "--help")
    assert done.returncode == 0
    assert "usage:" in done.stdout
    imported = re.findall(r"^(?:import|from) (\w+)", script.read_text(encoding="utf-8"), re.M)
    assert set(imported) <= sys.stdlib_module_names


HEADER = (LIBRARY / "expense-report/assets/report-template.csv").read_text(encoding="utf-8")
CHECK_REPORT = "expense-report/scripts/check_report.py"


def report(tmp_path: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "report.csv"
    path.write_text(HEADER + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return run(CHECK_REPORT, path)


def test_expense_check_passes_a_report_within_the_limits(tmp_path: Path) -> None:
    done = report(
        tmp_path,
        '2026-03-09,hotel,"Bristol, 1 night",1890.00,NOK,0.0861,162.73,R-1,',
        "2026-03-09,meals,Dinner,70.00,EUR,1,70.00,R-2,",
        "2026-03-09,meals,Dinner,-8.00,EUR,1,-8.00,,cut to the limit",
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"Total EUR\s+224\.73", done.stdout)


def test_expense_check_names_the_line_and_the_problem(tmp_path: Path) -> None:
    cases = {
        "2026-03-09,hotel,Bristol,195.00,EUR,1,195.00,R-1,": "15.00 over 180.00 a line: needs approval",
        "2026-03-09,meals,Lunch,12.00,EUR,1,12.00,,": "has no receipt",
        "2026-03-10,meals,Lunch,100.00,NOK,0.0861,8.60,,": "is 8.61, but amount_eur is 8.60",
        "2026-03-11,yacht,Lunch,9.00,EUR,1,9.00,,": 'category "yacht" is not one of',
        "9.3.2026,meals,Lunch,9.00,EUR,1,9.00,,": "write it as year-month-day",
        "2026-03-12,meals,Lunch,nan,EUR,1,9.00,,": "is not an amount",
        "2026-03-13,meals,Lunch, for two,9.00,EUR,1,9.00,,": "quote a text that contains a comma",
    }
    done = report(tmp_path, *cases)
    assert done.returncode == 1
    for number, sentence in enumerate(cases.values(), start=2):
        found = [line for line in done.stdout.splitlines() if line.startswith(f"line {number}: ")]
        assert len(found) == 1
        assert sentence in found[0]


def test_expense_check_adds_up_a_day_and_sees_a_receipt_entered_twice(tmp_path: Path) -> None:
    line = "2026-03-09,meals,Dinner,40.00,EUR,1,40.00,R-1,"
    done = report(tmp_path, line, line)
    assert "line 2, 3: meals on 2026-03-09 is 80.00, 18.00 over 62.00 a day" in done.stdout
    assert "line 3: looks the same as line 2" in done.stdout


def test_expense_check_refuses_an_empty_report_and_a_foreign_header(tmp_path: Path) -> None:
    assert "no lines" in report(tmp_path).stdout
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    done = run(CHECK_REPORT, tmp_path / "other.csv")
    assert done.returncode == 2
    assert "The first line must be: date,category" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        (("1890.00", "NOK", "EUR", "--rate", "0.0861"), "= 162.73 EUR"),
        (("1890.00", "NOK", "EUR", "--rate", "11.6144", "--inverse"), "= 162.73 EUR"),
        (("100", "EUR", "JPY", "--rate", "161.37"), "= 16137 JPY"),
        (("1", "EUR", "KWD", "--rate", "0.33335"), "= 0.333 KWD"),
    ],
)
def test_conversion_rounds_to_the_unit_of_the_target(arguments: tuple[str, ...], result: str) -> None:
    assert result in run("currency-conversion/scripts/convert.py", *arguments).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("10", "NOK", "EUR"),
        ("10", "NOK", "EUR", "--rate", "0"),
        ("1,5", "NOK", "EUR", "--rate", "2"),
        ("nan", "NOK", "EUR", "--rate", "2"),
        ("10", "kroner", "EUR", "--rate", "2"),
    ],
)
def test_conversion_refuses_ambiguous_input(arguments: tuple[str, ...]) -> None:
    assert run("currency-conversion/scripts/convert.py", *arguments).returncode == 2


def test_csv_profile_reports_problems_and_does_not_change_the_file(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    lines = ("id;name;amount", "001; Ana ;1.234,50", "002;Bo;12,00", "002;Bo;12,00", "3;JosÃ©;abc", "4;x;1;2")
    content = "\n".join(lines).encode()
    path.write_bytes(content)
    shown = run("csv-cleanup/scripts/profile_csv.py", path).stdout
    for sentence in (
        "delimiter ';', 3 columns, 5 rows",
        "line 6: 4 cells instead of 3",
        "1 rows repeat",
        "amount: mixed",
        "1 with spaces around",
        "3 with leading zeros",
        "1 with garbled",
    ):
        assert sentence in shown
    assert path.read_bytes() == content


def test_csv_profile_can_hide_values(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("name,born\nZoé Private,1980-01-01\n".encode("cp1252"))
    shown = run("csv-cleanup/scripts/profile_csv.py", path, "--no-examples", "--json").stdout
    assert "not UTF-8 (line 2)" in shown
    assert "Private" not in shown


def test_text_check_points_at_the_line_and_skips_code(tmp_path: Path) -> None:
    path = tmp_path / "draft.md"
    text = "# Draft\n\nShort one. We met in\norder to talk.\n\n```\nutilise\n```\n\n" + "word " * 31 + ".\n"
    path.write_text(text, encoding="utf-8")
    shown = run("plain-language/scripts/check_text.py", path).stdout
    assert 'draft.md:3: "in order to": to' in shown
    assert "draft.md:10: 31 words in one sentence" in shown
    assert "2 places to look at" in shown


CHECK_SKILL = "skill-writing/scripts/check_skill.sh"


def test_skill_check_finds_every_planted_problem(tmp_path: Path) -> None:
    root = tmp_path / "bad"
    (root / "references").mkdir(parents=True)
    (root / "references" / "lost.md").write_text("lost\n", encoding="utf-8")
    text = "---\nname: Bad\ndescription: short\n---\n[x](references/no.md)\n"
    (root / SKILL_MD).write_text(text, encoding="utf-8")
    done = run(CHECK_SKILL, root)
    assert done.returncode == 1
    for sentence in (
        'The name "Bad" must be',
        'but the directory is "bad"',
        "in double quotes",
        "has 5 characters",
        "references/no.md, which does not exist",
        "mentions references/lost.md",
    ):
        assert sentence in done.stdout


@pytest.mark.parametrize("arguments", [(), ("/nowhere/at/all",)])
def test_skill_check_refuses_wrong_use(arguments: tuple[str, ...]) -> None:
    assert run(CHECK_SKILL, *arguments).returncode == 2


@pytest.mark.parametrize("name", NAMES)
def test_library_passes_its_own_skill_check(name: str) -> None:
    done = run(CHECK_SKILL, LIBRARY / name)
    assert done.stdout == "0 problems\n"
