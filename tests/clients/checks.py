"""One check for each client: run it, and compare its result with what the site serves."""

import json
import re
import shlex
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from registry.web.connect.clients import Target, groups
from tests.clients import model, tools
from tests.clients.site import EXPECTED, Site, approve, working

_SCRIPTS = Path(__file__).parent / "scripts"
CONFORMANCE = {"enumeration": 32, "manifest": 6, "directory": 7}


class Failed(Exception):
    pass


def run(command: list[str], home: Path, **more: str) -> str:
    home.mkdir(parents=True, exist_ok=True)
    work = home / "work"
    work.mkdir(exist_ok=True)
    done = subprocess.run(
        command, cwd=work, env={**tools.environment(home), **more}, capture_output=True, text=True, timeout=180
    )
    said = done.stdout + done.stderr
    if done.returncode:
        raise Failed(f"exit {done.returncode}: {said[-1500:]}")
    return said


def same_files(directory: Path, expected: dict[str, bytes]) -> None:
    found = {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }
    if missing := sorted(expected.keys() - found.keys()):
        raise Failed(f"{directory.name} lacks {missing}; it has {sorted(found)}")
    if more := sorted(found.keys() - expected.keys()):
        raise Failed(f"{directory.name} has {more} too")
    if changed := [path for path in expected if found[path] != expected[path]]:
        raise Failed(f"{directory.name}: other bytes in {changed}")


def _installed(home: Path, names: set[str]) -> None:
    root = home / "work" / ".claude" / "skills"
    found = {path.name for path in root.iterdir()} if root.is_dir() else set()
    if not names <= found:
        raise Failed(f"installed {sorted(found)}, expected {sorted(names)}")
    for name in names:
        same_files(root / name, EXPECTED[name])


def skills_cli(command: list[str], address: str, names: set[str]) -> Callable[[Site, Path], str]:
    def check(site: Site, home: Path) -> str:
        where = address.format(site=site)
        run([*command, "add", where, "-y", "--copy", "-a", "claude-code"], home)
        _installed(home, names)
        return f"{len(names)} skills, {sum(len(EXPECTED[name]) for name in names)} files byte for byte"

    return check


def skills_cli_one(command: list[str]) -> Callable[[Site, Path], str]:
    def check(site: Site, home: Path) -> str:
        run([*command, "add", f"{site.by_token}/skills/plain-note", "-y", "--copy", "-a", "claude-code"], home)
        _installed(home, {"plain-note"})
        if "full-bundle" in run([*command, "list"], home):
            raise Failed("the address of one skill brought others")
        return "the address of one skill brings that skill"

    return check


def conformance(scenario: str) -> Callable[[Site, Path], str]:
    def check(site: Site, home: Path) -> str:
        arguments = ["--scenario", f"sep-2640-skills-{scenario}", "--spec-version", "2026-07-28", "--force"]
        said = run([*tools.node_22("conformance"), "server", "--url", f"{site.by_token}/mcp", *arguments], home)
        passed = re.search(r"Passed: (\d+)/(\d+), (\d+) failed, (\d+) warnings", said)
        if passed is None:
            raise Failed(said[-1500:])
        good, all_of_them, failed, warnings = map(int, passed.groups())
        if good != all_of_them or failed or warnings or good < CONFORMANCE[scenario]:
            raise Failed(said[-3000:])
        return f"{good}/{all_of_them} checks"

    return check


def inspector(site: Site, home: Path) -> str:
    command = [*tools.node_22("mcp-inspector"), "--cli", f"{site.by_token}/mcp", "--transport", "http"]
    said = run([*command, "--method", "skills/list", "--verify"], home)
    found = re.search(r"Verified (\d+) skills and (\d+) files: no conformance errors", said)
    files = sum(map(len, EXPECTED.values()))
    if found is None or (int(found[1]), int(found[2])) != (len(EXPECTED), files):
        raise Failed(said[-1500:])
    return found[0]


def inspector_with_header(site: Site, home: Path) -> str:
    command = [*tools.node_22("mcp-inspector"), "--cli", f"{site.address}/mcp", "--transport", "http"]
    header = ["--header", f"Authorization: Bearer {site.token}"]
    said = run([*command, *header, "--method", "tools/list"], home)
    if "read_skill_resource" not in said or "skills.load" in said:
        raise Failed(said[-1500:])
    return "tools listed with a bearer token"


def inspector_prompt(site: Site, home: Path) -> str:
    command = [*tools.node_22("mcp-inspector"), "--cli", f"{site.by_token}/mcp", "--transport", "http"]
    said = run([*command, "--method", "prompts/get", "--prompt-name", "instructions"], home)
    if "Be brief." not in said or "[Available Skills]" not in said:
        raise Failed(said[-1500:])
    return "the prompt has the instructions and the catalog"


def claude_code(site: Site, home: Path) -> str:
    """Run the command from the Connect page, and check that Claude Code reports the server as connected."""
    target = Target(site.address, "closed", wheel="", token=site.token)
    line = next(one for group in groups(target) for one in group.guides if one.key == "claude-code").steps[0].text
    program, *arguments = shlex.split(line)
    if program != "claude":
        raise Failed(f"the line starts with {program}")
    run([*tools.claude(), *arguments], home)
    said = run([*tools.claude(), "mcp", "list"], home)
    if not re.search(rf"skills: {re.escape(target.mcp)} \(HTTP\) - . Connected", said):
        raise Failed(said[-1500:])
    return "the line of the page connects, without an account"


def claude_code_route(site: Site, home: Path) -> str:
    """Let Claude Code call the tool route for a scripted model, and check the result that it hands to the model."""
    header = f"Authorization: Bearer {site.token}"
    add = ["mcp", "add", "--transport", "http", "skills", f"{site.address}/mcp", "--header", header]
    run([*tools.claude(), *add], home)
    with model.scripted("mcp__skills__route", {"query": "plain note", "limit": 3}) as scripted:
        said = run(
            [*tools.claude(), "-p", "Which skill is for a plain note?", "--allowedTools", "mcp__skills__route"],
            home,
            ANTHROPIC_BASE_URL=scripted.url,
            ANTHROPIC_API_KEY="not-a-key",
        )
    if not scripted.results or "plain-note" not in scripted.results[0] or "plain-note" not in said:
        raise Failed(f"{scripted.results} {sorted(scripted.offered)} {said[-1500:]}")
    return f"its client called the tool and handed over: {scripted.results[0].splitlines()[0][:60]}"


def python_client(script: str) -> Callable[[Site, Path], str]:
    """Run a script in the client's environment. It prints its result as one line of JSON."""

    def check(site: Site, home: Path) -> str:
        target = home / "out"
        said = run([str(tools.python()), str(_SCRIPTS / script), site.address, site.token, str(target)], home)
        found = json.loads(said.strip().splitlines()[-1])
        for name in found.get("directories", ()):
            if name in EXPECTED:
                same_files(target / name, EXPECTED[name])
        if not set(EXPECTED) <= set(found["names"]):
            raise Failed(f"found {found['names']}")
        return str(found["said"])

    return check


def fastmcp_run(site: Site, home: Path) -> str:
    """Let fastmcp run a workflow that waits for a person, and approve it while fastmcp waits."""
    home.mkdir(parents=True, exist_ok=True)
    command = [str(tools.python()), str(_SCRIPTS / "fastmcp_run.py"), site.address, site.run_token]
    with (
        working(site),
        subprocess.Popen(
            command, cwd=home, env=tools.environment(home), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as client,
    ):
        timer = threading.Timer(180, client.kill)
        timer.start()
        said: list[str] = []
        for line in client.stdout or ():
            said.append(line)
            if line.startswith('{"run": '):
                approve(json.loads(line)["run"])
        timer.cancel()
    if client.returncode:
        raise Failed(f"exit {client.returncode}: {''.join(said)[-1500:]}")
    return str(json.loads(said[-1])["said"])


def no_secret_in_the_log(site: Site, home: Path) -> str:
    """Check that the log contains a request with a token in its address, but not the token."""
    request = f"{site.by_token}/.well-known/agent-skills/absent/SKILL.md"
    try:
        urllib.request.urlopen(request, timeout=10).close()
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise
    log = site.log()
    if "/t/***/.well-known/agent-skills/absent/SKILL.md" not in log:
        raise Failed("the wrong address is not in the log")
    if any(token in log for token in (site.token, site.other_token, site.run_token)):
        raise Failed("a token stands in the log of the server")
    return f"{len(log.splitlines())} lines, tokens masked"
