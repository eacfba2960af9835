"""The command: its output and its exit codes."""

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.client import exit_codes
from registry.client.command import main
from registry.client.output import print_line
from registry.client.progress import Bar
from tests.client.between import Between, Reply
from tests.conftest import on_disk, skill_text

BINARY = bytes(range(256))
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def a_skill(library: Path) -> None:
    on_disk(library, "greeting", {"references/tone.md": b"Kind.\n", "assets/logo.png": BINARY})


@pytest.fixture
def environment(site: Between, token: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLSITE_URL", site.url)
    monkeypatch.setenv("SKILLSITE_PROJECT", "demo")
    monkeypatch.setenv("SKILLSITE_TOKEN", token)
    monkeypatch.setenv("SKILLSITE_CACHE", str(cache))


@pytest.fixture
def run(environment: None, capfd: pytest.CaptureFixture[str], token: str) -> Run:
    """Run the command in this process, and check that its output never contains the token."""

    def act(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, err = capfd.readouterr()
        assert token not in out + err
        return code, out, err

    return act


def test_the_catalog_is_printed_as_text_for_a_prompt(run: Run) -> None:
    code, out, err = run("catalog")
    assert (code, err) == (0, "") and out.startswith("[Available Skills]\n• `greeting` — ")
    assert run("catalog", "--format", "xml")[1].startswith("<available_skills>")
    assert json.loads(run("catalog", "--format", "json", "--q", "greeting")[1])["skills"][0]["name"] == "greeting"


@pytest.mark.parametrize(
    "command", [("read", "a\udcff"), ("file", "greeting", "a\udcff"), ("catalog", "--q", "\udcff")]
)
def test_an_argument_that_is_not_text_is_a_usage_error(run: Run, command: tuple[str, ...]) -> None:
    code, out, err = run(*command)
    assert (code, out) in ((exit_codes.USAGE, ""), (exit_codes.REFUSED, "")) and "Traceback" not in err


def test_an_empty_catalog_prints_a_note_to_stderr(run: Run) -> None:
    assert run("catalog", "--tag", "none-has-it") == (0, "", "No skills found.\n")


def test_instructions_go_to_stdout_and_facts_to_stderr(run: Run) -> None:
    code, out, err = run("read", "greeting")
    assert code == 0 and out.startswith("# greeting") and "Skill loaded: greeting" in err
    assert json.loads(run("read", "greeting", "--format", "json")[1])["files"][0]["path"] == "SKILL.md"


@pytest.mark.processes
def test_a_file_is_written_byte_for_byte(environment: None, run: Run, tmp_path: Path) -> None:
    assert run("file", "greeting", "assets/logo.png", "-o", str(tmp_path / "logo.png")) == (0, "", "")
    assert (tmp_path / "logo.png").read_bytes() == BINARY
    piped = subprocess.run(
        [sys.executable, "-m", "registry.client", "file", "greeting", "assets/logo.png"], capture_output=True
    )
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, BINARY, b"")


def test_a_file_that_cannot_be_written_is_an_error(run: Run, tmp_path: Path) -> None:
    code, _, err = run("file", "greeting", "SKILL.md", "-o", str(tmp_path))
    assert code == exit_codes.LOCAL and "Could not write" in err


def test_pull_prints_its_changes_and_check_then_finds_none(run: Run, target: Path, site: Between) -> None:
    code, out, err = run("pull", str(target))
    assert (code, err) == (0, "")
    assert out.startswith("+ greeting sha-") and out.endswith(f"has the one skill of {site.url}/projects/demo.\n")
    assert run("pull", str(target), "--check") == (0, f"{target} is up to date.\n", "")


@pytest.mark.parametrize(
    ("agent", "directory"),
    [
        ("claude-code", ".claude/skills"),
        ("cursor", ".agents/skills"),
        ("codex", ".agents/skills"),
        ("agents", ".agents/skills"),
    ],
)
def test_each_agent_has_its_directory(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str, directory: str
) -> None:
    assert run("pull", str(tmp_path / "there"), "--for", agent)[0] == 0
    assert (tmp_path / "there" / directory / "greeting/SKILL.md").is_file()
    monkeypatch.chdir(tmp_path)
    assert run("pull", "--for", agent)[0] == 0
    assert (tmp_path / directory / "greeting/SKILL.md").is_file()


def test_check_exits_with_one_if_something_differs(run: Run, target: Path) -> None:
    code, out, err = run("pull", str(target), "--check")
    assert code == exit_codes.DIFFERS and out.startswith("+ greeting sha-") and "out of date" in err
    assert not target.exists()


def test_check_reports_skills_that_were_edited_locally(run: Run, target: Path) -> None:
    run("pull", str(target))
    (target / "greeting/SKILL.md").write_text("mine")
    code, out, err = run("pull", str(target), "--check")
    assert (code, out) == (exit_codes.DIFFERS, "! greeting: its files were edited here\n")
    assert "a pull would not change it" in err and "--force" in err and "out of date" not in err


def test_a_kept_skill_is_named_and_the_exit_code_is_one(run: Run, target: Path) -> None:
    (target / "greeting").mkdir(parents=True)
    (target / "greeting/SKILL.md").write_text("Mine.")
    code, _, err = run("pull", str(target))
    assert (
        code == exit_codes.DIFFERS
        and "! greeting: it was not installed by a pull. Not changed." in err
        and "--force" in err
    )
    assert run("pull", str(target), "--force")[0] == exit_codes.DONE


def test_an_invalid_bundle_exits_with_five(run: Run, target: Path, site: Between) -> None:
    site.fault = lambda between, path, forward: Reply(200, b"no") if "bundle.zip" in path else None
    code, _, err = run("pull", str(target))
    assert code == exit_codes.UNTRUSTWORTHY and "! greeting: The bundle of greeting is invalid" in err


def test_a_pull_without_a_directory_is_a_usage_error(run: Run) -> None:
    assert run("pull")[0] == exit_codes.USAGE


def test_a_proposal_reaches_the_site(run: Run, tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text(skill_text("parting"))
    code, out, _ = run("propose", "parting", "--skill-md", str(tmp_path / "new.md"), "--why", "People leave.")
    assert code == 0 and "is open" in out


def test_a_proposal_that_is_refused_prints_the_findings(run: Run, tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text("no frontmatter")
    code, _, err = run("propose", "parting", "--skill-md", str(tmp_path / "new.md"), "--why", "People leave.")
    assert code == exit_codes.REFUSED and "SKILL.md" in err


def test_a_proposal_from_a_missing_file_sends_nothing(run: Run, site: Between, tmp_path: Path) -> None:
    assert run("propose", "x", "--skill-md", str(tmp_path / "none"), "--why", "y")[0] == exit_codes.LOCAL
    (tmp_path / "binary").write_bytes(BINARY)
    assert run("propose", "x", "--diff", str(tmp_path / "binary"), "--why", "y")[0] == exit_codes.LOCAL
    assert not site.requests


# -- Exit codes and settings -------------------------------------------------------------------------------


def test_a_missing_skill_exits_with_four(run: Run) -> None:
    code, out, err = run("read", "unheard-of")
    assert (code, out) == (exit_codes.REFUSED, "") and "unheard-of" in err


def test_a_wrong_token_exits_with_four(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLSITE_TOKEN", "sks_wrong")
    code, out, err = run("catalog")
    assert (code, out) == (exit_codes.REFUSED, "") and "sks_wrong" not in err


def test_offline_without_a_cache_exits_with_three(run: Run) -> None:
    assert run("--offline", "catalog")[0] == exit_codes.UNREACHABLE
    assert run("catalog")[0] == exit_codes.DONE
    code, out, err = run("--offline", "catalog")
    assert code == exit_codes.DONE and "greeting" in out and "cached response" in err


@pytest.mark.parametrize("name", ["SKILLSITE_URL", "SKILLSITE_PROJECT", "SKILLSITE_TOKEN"])
def test_a_missing_setting_is_named(run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv(name)
    code, _, err = run("catalog")
    assert code == exit_codes.USAGE and name in err


def test_arguments_take_precedence_over_the_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch, site: Between, token: str, tmp_path: Path
) -> None:
    for name in ("SKILLSITE_URL", "SKILLSITE_PROJECT", "SKILLSITE_TOKEN"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    (tmp_path / "token").write_text(f"{token}\n")
    given = ("--url", site.url, "--project", "demo", "--token-file", str(tmp_path / "token"))
    assert run(*given, "catalog")[0] == exit_codes.DONE


def test_the_token_can_be_in_a_file(run: Run, monkeypatch: pytest.MonkeyPatch, token: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{token}\n")
    monkeypatch.delenv("SKILLSITE_TOKEN")
    monkeypatch.setenv("SKILLSITE_TOKEN_FILE", str(tmp_path / "token"))
    assert run("catalog")[0] == exit_codes.DONE
    monkeypatch.setenv("SKILLSITE_TOKEN_FILE", str(tmp_path / "none"))
    assert run("catalog")[0] == exit_codes.USAGE


@pytest.mark.parametrize("content", [b"", b"  \n", b"two words", b"\xff\xfe"])
def test_an_empty_token_file_is_an_error(run: Run, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    assert run("--token-file", str(tmp_path / "token"), "catalog")[0] == exit_codes.USAGE


def test_unreadable_certificates_are_an_error(run: Run, tmp_path: Path) -> None:
    code, _, err = run("--url", "https://localhost", "--ca-file", str(tmp_path / "none.pem"), "catalog")
    assert code == exit_codes.USAGE and "none.pem" in err


def test_control_characters_in_an_error_of_the_site_are_escaped(run: Run, site: Between) -> None:
    site.fault = lambda *_: Reply(404, json.dumps({"detail": "\x1b[2Jgone\r\n"}).encode())
    assert "\x1b" not in run("catalog")[2]


def test_help_names_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert all(f"\n  {code}  " in out for code in range(7))


def test_wrong_arguments_exit_with_two() -> None:
    for arguments in ([], ["unheard-of"], ["read"], ["propose", "x", "--why", "y"], ["pull", "--for", "nobody"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == exit_codes.USAGE


@pytest.mark.processes
def test_a_closed_pipe_is_not_an_error(environment: None) -> None:
    command = f"{sys.executable} -m registry.client read greeting | head -c 1"
    ended = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True)
    assert ended.stdout == "#" and "Traceback" not in ended.stderr and "Error" not in ended.stderr


@pytest.mark.processes
def test_a_terminal_gets_a_progress_bar_that_is_cleared(environment: None, target: Path) -> None:
    primary, secondary = pty.openpty()
    ended = subprocess.run(
        [sys.executable, "-m", "registry.client", "pull", str(target)], stdout=subprocess.PIPE, stderr=secondary
    )
    os.close(secondary)
    shown = os.read(primary, 10_000).decode()
    os.close(primary)
    assert ended.returncode == 0
    assert "1 of 1  greeting" in shown and shown.endswith("\r\x1b[K")


def test_there_is_no_progress_bar_without_a_terminal() -> None:
    out = io.StringIO()
    bar = Bar(out, shown=False)
    bar(1, 2, "greeting")
    bar.clear()
    assert out.getvalue() == ""


def test_control_characters_in_names_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    print_line("a\x1b[31mb\u202ec")
    assert capsys.readouterr().out == "a\\u001b[31mb\\u202ec\n"
