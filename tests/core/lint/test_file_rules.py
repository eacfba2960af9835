"""Files that tools run by themselves, and scripts that could not be checked."""

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.findings import Category, Finding, Severity
from registry.core.format import skill_md
from registry.core.limits import DEFAULT
from registry.core.lint import file_rules, rules
from registry.core.lint.context import LintContext
from registry.core.proposals import assessment
from registry.core.proposals.risk import Risk
from tests import cpu

TEXT = b'---\nname: trip\ndescription: "Plan a trip. Use when somebody wants to travel."\n---\nBook it.\n'

AUTORUN = [
    ".mcp.json",
    "sub/.MCP.json",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".envrc",
    ".husky/pre-commit",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/start.sh",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".codex/config.toml",
    ".pre-commit-config.yaml",
    ".pre-commit-hooks.yml",
    "lefthook.yml",
    ".githooks/post-checkout",
    ".gitmodules",
    ".devcontainer/devcontainer.json",
    ".idea/workspace.xml",
    "trip.code-workspace",
    ".bashrc",
    ".zshenv",
    ".profile",
    "mise.toml",
    ".mise.local.toml",
    "sitecustomize.py",
    ".npmrc",
    ".gdbinit",
    ".dir-locals.el",
]
HARMLESS = [
    "references/mcp.json",
    "mcp.json",
    "settings.json",
    ".gitignore",
    ".github/workflows/check.yml",
    "vscode/tasks.json",
    "envrc.md",
    "scripts/hooks.json",
    ".env.example",
    "references/bashrc.md",
    "claude/settings.json",
    "profile",
    "package.json",
    "assets/model.pth",
]


def bundle(files: dict[str, bytes]) -> Bundle:
    return Bundle({SKILL_MD: TEXT, **files})


def lint(files: dict[str, bytes]) -> list[Finding]:
    found = rules.lint(skill_md.read(TEXT), bundle(files), authoring=True)
    return [each for each in found if each.rule in file_rules.RULES]


@pytest.mark.parametrize("path", AUTORUN)
def test_a_file_that_a_tool_runs_by_itself_is_a_finding(path: str) -> None:
    (found,) = lint({path: b"{}"})
    assert (found.rule, found.severity, found.file) == ("file-autorun", Severity.WARNING, path)
    assert found.category is Category.SECURITY


@pytest.mark.parametrize("path", HARMLESS)
def test_other_files_are_no_finding(path: str) -> None:
    assert lint({path: b"{}"}) == []


@pytest.mark.parametrize("path", ["assets/.vscode/tasks.json", "templates/web/.envrc"])
def test_a_template_is_only_a_hint(path: str) -> None:
    assert [each.severity for each in lint({path: b"{}"})] == [Severity.HINT]


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("scripts/run.py", b"import os\n\0", "NUL byte"),
        ("run.sh", b"\0" + b"echo\n", "NUL byte"),
        ("tool", b"#!/bin/sh\n\0\n", "NUL byte"),
        ("scripts/tool", b"\x7fELF\0", "NUL byte"),
        ("scripts/run.py", b"#" * (DEFAULT.text_read_bytes + 1), "128,001 bytes, and only 128,000 are checked"),
        ("notes.PS1", b"caf\xe9", "not UTF-8"),
        ("Makefile", b"all:\0", "NUL byte"),
    ],
)
def test_a_script_that_cannot_be_read_is_a_finding(path: str, content: bytes, reason: str) -> None:
    (found,) = lint({path: content})
    assert (found.rule, found.severity, found.file) == ("script-unread", Severity.WARNING, path)
    assert reason in found.message and found.category is Category.SECURITY


def test_a_script_after_the_budget_of_a_lint_is_a_finding() -> None:
    files = {f"references/{number:02}.md": b"x" * 128_000 for number in range(40)}
    (found,) = lint({**files, "scripts/run.py": b"import os\n"})
    assert "too long together" in found.message


@pytest.mark.parametrize(
    ("path", "content"),
    [("assets/a.png", b"\0"), ("scripts/a.png", b"\0"), ("references/a.md", b"\xff"), ("scripts/run.py", b"pass\n")],
)
def test_readable_scripts_and_other_files_are_no_finding(path: str, content: bytes) -> None:
    assert lint({path: content}) == []


def test_adding_such_a_file_is_a_high_risk() -> None:
    before, after = bundle({}), bundle({".mcp.json": b"{}"})
    assessed = assessment.assess(before, after, name="trip")
    assert assessed.risk is Risk.HIGH and any(".mcp.json" in reason for reason in assessed.reasons)


def test_many_long_paths_are_checked_quickly() -> None:
    made = bundle({f"{'.v/' * 14}{'.vscod' * 30}{number}": b"" for number in range(DEFAULT.files - 1)})
    context = LintContext(skill_md.read(TEXT), made, {}, True, None, None, DEFAULT)
    assert cpu.within(0.5, lambda: [one for check in file_rules.CHECKS for one in check(context)]) == []
