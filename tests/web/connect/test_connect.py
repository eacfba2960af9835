"""The connect page: its commands are valid, tested and documented, and contain no secret."""

import ast
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import resolve

from registry.client import command
from registry.core import roles
from registry.models import Project, Token
from registry.services.agents import tokens
from registry.services.catalog import built_in
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.web.connect import clients
from registry.web.connect.clients import Guide, Target
from tests.conftest import on_disk
from tests.prepared import ensure_agent
from tests.web.conftest import Browser

ROOT = Path(__file__).resolve().parents[3]
CLIENTS = ROOT / "tests" / "clients"
SITE = "https://skills.example.org"
PRIVATE = Target(SITE, "demo", f"{SITE}/client/skillsite_client-1.0-py3-none-any.whl#sha256=00", token="TOKEN")
PUBLIC = Target(SITE, "demo", PRIVATE.wheel, public=True, token="TOKEN")
PAGE = "/projects/demo/connect/"


def of(target: Target) -> dict[str, Guide]:
    return {guide.key: guide for group in clients.groups(target) for guide in group.guides}


ALL = of(PRIVATE)
STEPS = [(key, step) for key, guide in ALL.items() for step in guide.steps]
SHELL = [(key, line) for key, step in STEPS if not step.python and not step.text.startswith(("{", "["))
         for line in step.text.replace("\\\n", " ").splitlines()]  # fmt: skip
PROGRAMS = [(key, step.text) for key, step in STEPS if step.python]


def squeezed(text: str) -> str:
    return " ".join(text.replace("\\\n", " ").split())


# -- The lines are true ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "place"), [("claude-code", 0), ("skills", 0), ("inspector", 1)])
def test_commands_are_in_the_documentation(key: str, place: int) -> None:
    documented = squeezed((ROOT / "docs" / "clients.md").read_text())
    assert squeezed(ALL[key].steps[place].text) in documented


@pytest.mark.parametrize(
    ("site", "flag"), [("http://10.0.0.5:8000", True), ("http://localhost:8000", False), (SITE, False)]
)
def test_only_a_remote_site_without_https_needs_the_flag_for_plain_http(site: str, flag: bool) -> None:
    guides = of(Target(site, "demo", PRIVATE.wheel, token="TOKEN"))
    assert ("SKILLSITE_ALLOW_HTTP=1" in guides["client"].steps[1].text) is flag
    assert ("no https" in guides["client"].note) is flag
    assert ("allow_http=True" in guides["agno"].steps[-1].text) is flag


@pytest.mark.parametrize("key", ["fastmcp", "agent-framework"])
def test_programs_are_in_the_documentation(key: str) -> None:
    (program,) = [step.text for step in ALL[key].steps if step.python]
    documented = squeezed((ROOT / "docs" / "clients.md").read_text())
    block = program[program.index("    async with") :].split("\n\n")[0]
    assert squeezed(block) in documented


@pytest.mark.parametrize(("key", "program"), PROGRAMS, ids=[key for key, _ in PROGRAMS])
def test_programs_import_only_what_the_tested_scripts_import(key: str, program: str) -> None:
    tried = "\n".join(path.read_text() for path in (CLIENTS / "scripts").glob("*.py"))
    known = {(node.module, name.name) for node in ast.walk(ast.parse(tried)) if isinstance(node, ast.ImportFrom)
             for name in node.names}  # fmt: skip
    used = {(node.module, name.name) for node in ast.walk(ast.parse(program)) if isinstance(node, ast.ImportFrom)
            for name in node.names}  # fmt: skip
    assert used
    assert used <= known


@pytest.mark.parametrize("key", ["agno", "haystack", "deepagents"])
def test_loaders_are_used_as_in_the_tested_scripts(key: str) -> None:
    (program,) = [step.text for step in ALL[key].steps if step.python]
    use = program.splitlines()[-1].partition(" = ")[2]
    tried = (CLIENTS / "scripts" / f"{key}_loader.py").read_text()
    assert use.partition("(client)")[0] in tried


def test_only_tested_packages_are_named() -> None:
    tried = (CLIENTS / "tools.py").read_text() + (CLIENTS / "loaders-requirements.txt").read_text()
    installs = [shlex.split(line)[2:] for _, line in SHELL if line.startswith(("pip install", "npm install"))]
    named = {word for words in installs for word in words if not word.startswith("--")}
    packages = {word for word in named if not word.startswith(SITE)}
    assert packages == {"fastmcp", "agent-framework-core", "agno", "haystack-ai", "deepagents",
                        "@modelcontextprotocol/inspector"}  # fmt: skip
    assert all(f"{package}==" in tried or f"{package}@" in tried for package in packages)


def test_the_skills_command_has_the_tested_arguments_and_no_telemetry() -> None:
    checks = (CLIENTS / "checks.py").read_text()
    for step in (*ALL["skills"].steps, *of(PUBLIC)["skills"].steps):
        variable, npx, tool, add, _, *options = shlex.split(step.text)
        assert (variable, npx, tool, add) == ("DISABLE_TELEMETRY=1", "npx", "skills", "add")
        assert ", ".join(json.dumps(option) for option in options) in checks


@pytest.mark.parametrize(
    ("key", "setting"), [("agno", "AGNO_TELEMETRY=false"), ("haystack", "HAYSTACK_TELEMETRY_ENABLED=false")]
)
def test_telemetry_of_frameworks_is_turned_off(key: str, setting: str) -> None:
    assert f"export {setting}" in ALL[key].steps[0].text.splitlines()
    assert setting in ALL[key].note
    assert '{}="{}"'.format(*setting.split("=")) in (CLIENTS / "loaders.py").read_text()


@pytest.mark.parametrize("line", [line for _, line in SHELL if line.startswith("skillsite-client")])
def test_the_python_client_parses_its_commands(line: str) -> None:
    command._parser().parse_args(shlex.split(line)[1:])


def test_the_python_client_is_installed_from_this_site() -> None:
    installs = [shlex.split(line)[2:] for _, line in SHELL if line.startswith("pip install") and "whl" in line]
    assert len(installs) == 4
    assert all(PRIVATE.wheel in words for words in installs)


@pytest.mark.parametrize("key", ["cursor", "vs-code"])
def test_files_of_editors_are_json_with_the_url_of_the_server(key: str) -> None:
    files = [json.loads(step.text) for step in ALL[key].steps if step.text.startswith("{")]
    servers = [next(iter(file.get("mcpServers", file.get("servers")).values())) for file in files]
    assert {server["url"] for server in servers} <= {f"{SITE}/mcp", f"{SITE}/t/TOKEN/mcp"}
    assert all("headers" in server or "/t/" in server["url"] for server in servers)


def test_the_file_of_codex_is_toml_with_the_url_of_the_server() -> None:
    found = tomllib.loads(ALL["codex"].steps[-1].text)
    assert found == {"mcp_servers": {"skills": {"url": f"{SITE}/mcp", "bearer_token_env_var": "SKILLSITE_TOKEN"}}}


@pytest.mark.parametrize("target", [PRIVATE, PUBLIC], ids=["private", "public"])
def test_every_url_resolves_on_this_site(target: Target) -> None:
    texts = [step.text for guide in of(target).values() for step in guide.steps]
    found = [address for text in texts for address in re.findall(r"https?://[^\s\"'#]+", text)]
    assert len(found) > 20
    for address in found:
        assert address.startswith(SITE)
        path = urlsplit(address).path
        if path and not re.fullmatch(r"/(t/TOKEN|projects/demo)(/skills/NAME)?", path):
            resolve(path)
        elif path:
            resolve(f"{path}/.well-known/agent-skills/index.json")


def test_a_public_project_needs_no_token_for_discovery() -> None:
    open_ones = {key for key, guide in of(PUBLIC).items() if not guide.needs}
    assert open_ones == {"skills", "well-known"}
    for key in open_ones:
        assert not any("TOKEN" in step.text for step in of(PUBLIC)[key].steps)
        assert all("/t/TOKEN" in step.text for step in ALL[key].steps)


def test_the_http_commands_work(project: Project, library: Path, operator: Actor) -> None:
    on_disk(library, "greeting", {"references/FILE.md": b"More."})
    built_in.index().refresh()
    bot = ensure_agent(project, "bot", by=operator)
    secret = tokens.create_token(project, agent=bot, scopes=["read"], by=operator)
    seen = 0
    for step in of(Target("", "demo", ""))["rest"].steps:
        if step.text.startswith("curl"):
            words = shlex.split(step.text)
            address = words[-1].replace("NAME", "greeting").replace("AGENT", "bot")
            sent = {"path": address, "headers": {"Authorization": f"Bearer {secret}"}}
            if "--json" in words:
                body = words[words.index("--json") + 1]
                response = Client().post(**sent, data=body, content_type="application/json")
            else:
                response = Client().get(**sent)
            assert response.status_code == 200, address
            seen += 1
    assert seen == 6


# -- The page -------------------------------------------------------------------------------------------------


def test_every_client_is_shown_with_the_project_filled_in(
    project: Project, browser_client: Browser, settings: Any
) -> None:
    settings.PUBLIC_URL = SITE
    client = browser_client(roles.VIEWER)
    for key in ALL:
        page = client.get(f"{PAGE}{key}/").content.decode()
        assert 'aria-current="page">' + ALL[key].title in page
        assert SITE in page or key == "codex"


@pytest.mark.parametrize("role", roles.ROLES)
def test_every_member_can_open_the_page(project: Project, browser_client: Browser, role: str) -> None:
    client = browser_client(role)
    assert client.get(PAGE).status_code == 200
    assert client.get(f"{PAGE}{next(iter(ALL))}/").status_code == 200


def test_the_page_shows_a_placeholder_and_no_token(project: Project, operator: Actor, browser_client: Browser) -> None:
    secret = tokens.create_token(project, agent=ensure_agent(project, "bot", by=operator), by=operator)
    client = browser_client(roles.OWNER)
    pages = "".join(client.get(f"{PAGE}{key}/").content.decode() for key in ALL)
    assert clients.PLACEHOLDER in pages
    assert secret not in pages
    assert Token.objects.get().start not in pages


def test_the_page_shows_whether_the_project_is_public(
    project: Project, operator: Actor, browser_client: Browser
) -> None:
    client = browser_client(roles.VIEWER)
    assert "This project is private." in client.get(PAGE).content.decode()
    assert ">Public</a>" not in client.get("/projects/demo/skills/").content.decode()
    projects.set_public(project, True, by=operator)
    page = client.get(f"{PAGE}skills/").content.decode()
    assert "This project is public." in page
    assert "Needs no token" in page
    assert ">Public</a>" in client.get("/projects/demo/skills/").content.decode()


@pytest.mark.parametrize("path", ["nothing/", "Claude-Code/", "claude-code/x/"])
def test_an_unknown_client_has_no_page(project: Project, browser_client: Browser, path: str) -> None:
    assert browser_client(roles.OWNER).get(PAGE + path).status_code == 404


def test_a_user_of_another_project_has_no_connect_page(
    project: Project, other_project: Project, browser_client: Browser
) -> None:
    assert browser_client(roles.OWNER).get("/projects/other/connect/").status_code == 404
    assert Client().get(PAGE).status_code == 302
