"""Instructions for connecting each known client to a project: exact commands and files to copy."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from registry.lib import hosts

PLACEHOLDER = "sks_…"
_VARIABLE = "SKILLSITE_TOKEN"
_PULL = "skillsite-client pull --for claude-code"
_READ = "skillsite-client catalog\nskillsite-client route 'QUESTION'\nskillsite-client read NAME"
_UNENCRYPTED = "This site has no https, so others in the network can read the token."
_READ_ONLY = "a token with “read” as its only scope"


@dataclass(frozen=True, slots=True)
class Target:
    """A project to connect to, and the wheel of the Python client that its site serves."""

    site: str
    project: str
    wheel: str
    public: bool = False
    token: str = PLACEHOLDER

    @property
    def is_unencrypted(self) -> bool:
        """Return whether clients on other machines send the token unencrypted. The Python client needs a flag then."""
        parts = urlsplit(self.site)
        return parts.scheme == "http" and not hosts.is_this_machine(parts.hostname or "")

    @property
    def mcp(self) -> str:
        return f"{self.site}/mcp"

    @property
    def url_with_token(self) -> str:
        """For clients that send no header. The token must have “read” as its only scope."""
        return f"{self.site}/t/{self.token}"

    @property
    def api(self) -> str:
        return f"{self.site}/api/v1/projects/{self.project}"

    @property
    def public_url(self) -> str:
        return f"{self.site}/projects/{self.project}"


@dataclass(frozen=True, slots=True)
class Step:
    """Text to copy, and a label that says what it does or in which file it goes. `python` marks a program."""

    label: str
    text: str
    python: bool = False


@dataclass(frozen=True, slots=True)
class Guide:
    """Instructions for one client. `needs` describes the token; it is empty where none is needed."""

    key: str
    title: str
    what: str
    steps: tuple[Step, ...]
    needs: str = "a token with the scope “read”"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    guides: tuple[Guide, ...]


def groups(target: Target) -> tuple[Group, ...]:
    return tuple(Group(title, tuple(build(target) for build in builders)) for title, builders in _GROUPS.items())


def _export(target: Target, *more: str) -> Step:
    lines = (f"export {variable}" for variable in (f"{_VARIABLE}={target.token}", *more) if variable)
    return Step("In your shell", "\n".join(lines))


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _claude_code(target: Target) -> Guide:
    header = f'--header "Authorization: Bearer {target.token}"'
    return Guide(
        "claude-code",
        "Claude Code",
        "Finds the skill for a question, loads it while it works, and can propose changes.",
        (
            Step("Add the server", f"claude mcp add --transport http skills {target.mcp} {header}"),
            Step("Or pull the skills as files, with the Python client of this site", _PULL),
        ),
        needs="a token with the scope “read”, and “propose” to suggest changes",
    )


def _cursor(target: Target) -> Guide:
    header = {"Authorization": f"Bearer ${{env:{_VARIABLE}}}"}
    with_header = {"mcpServers": {"skills": {"url": target.mcp, "headers": header}}}
    by_url = {"mcpServers": {"skills": {"url": f"{target.url_with_token}/mcp"}}}
    return Guide(
        "cursor",
        "Cursor",
        "Connects to the MCP server of this site.",
        (
            _export(target),
            Step(".cursor/mcp.json in a project, or ~/.cursor/mcp.json", _json(with_header)),
            Step("If Cursor asks you to sign in instead of sending the header: the token in the URL", _json(by_url)),
        ),
        note="A token in a URL must have “read” as its only scope. Don’t commit this file.",
    )


def _codex(target: Target) -> Guide:
    lines = f'[mcp_servers.skills]\nurl = "{target.mcp}"\nbearer_token_env_var = "{_VARIABLE}"'
    return Guide(
        "codex",
        "Codex",
        "Connects to the MCP server of this site.",
        (_export(target), Step("~/.codex/config.toml", lines)),
    )


def _vs_code(target: Target) -> Guide:
    token_input = {"type": "promptString", "id": "skillsite", "description": "Skillsite token", "password": True}
    server = {"type": "http", "url": target.mcp, "headers": {"Authorization": "Bearer ${input:skillsite}"}}
    return Guide(
        "vs-code",
        "VS Code",
        "Asks for the token once and stores it.",
        (Step(".vscode/mcp.json", _json({"inputs": [token_input], "servers": {"skills": server}})),),
    )


def _skills(target: Target) -> Guide:
    start = target.public_url if target.public else target.url_with_token
    command = "DISABLE_TELEMETRY=1 npx skills add"
    return Guide(
        "skills",
        "skills",
        "Copies skills into a directory that Claude Code and many other agents read.",
        (
            Step("All skills of the project", f"{command} {start} --copy -a claude-code"),
            Step("One skill", f"{command} {start}/skills/NAME --copy -a claude-code"),
        ),
        needs="" if target.public else _READ_ONLY,
        note=(
            "Keep DISABLE_TELEMETRY=1. Without it, this command sends the URL"
            f"{'' if target.public else ', including the token,'} to its makers."
        ),
    )


def _client(target: Target) -> Guide:
    variables = {"SKILLSITE_URL": target.site, "SKILLSITE_PROJECT": target.project, _VARIABLE: target.token}
    variables |= {"SKILLSITE_ALLOW_HTTP": "1"} if target.is_unencrypted else {}
    settings = "\n".join(f"export {name}={value}" for name, value in variables.items())
    return Guide(
        "client",
        "Python client",
        "Pulls skills as files, checks their digests, and downloads only what changed.",
        (
            Step("Install from this site", f'pip install "{target.wheel}"'),
            Step("Configure", settings),
            Step("Pull the skills for Claude Code (or cursor, codex)", _PULL),
            Step("In CI: fail if the files differ from the project", f"{_PULL} --check"),
            Step("Read in the shell", _READ),
        ),
        note=_UNENCRYPTED if target.is_unencrypted else "",
    )


def _rest(target: Target) -> Guide:
    def get(path: str, options: str = "") -> str:
        return f'curl {options}-H "Authorization: Bearer ${_VARIABLE}" "{target.api}{path}"'

    return Guide(
        "rest",
        "HTTP",
        "The REST API. Responses have ETags and digests.",
        (
            _export(target),
            Step("The skill list, ready for a prompt", get("/catalog?format=text&budget=2000")),
            Step("The skills for a question", get("/route", """--json '{"query": "QUESTION"}' """)),
            Step("The instructions of one skill", get("/skills/NAME")),
            Step("One file of a skill", get("/skills/NAME/files/references/FILE.md")),
            Step("The whole skill", get("/skills/NAME/bundle.zip", "-o NAME.zip ")),
            Step("The complete instructions of one agent", get("/agents/AGENT/instructions?format=text")),
        ),
    )


def _well_known(target: Target) -> Guide:
    start = target.public_url if target.public else target.url_with_token
    return Guide(
        "well-known",
        "Well-known discovery",
        "For any other client that discovers skills at a URL. Give it the URL before /.well-known.",
        (Step("The index", f"curl {start}/.well-known/agent-skills/index.json"),),
        needs="" if target.public else _READ_ONLY,
    )


def _fastmcp(target: Target) -> Guide:
    program = f"""import asyncio

from fastmcp import Client
from fastmcp.utilities.skills import sync_skills


async def main() -> None:
    async with Client("{target.mcp}", auth="{target.token}") as client:
        await sync_skills(client, "skills")


asyncio.run(main())"""
    return Guide(
        "fastmcp",
        "fastmcp",
        "Downloads all skills, or reads them one by one.",
        (Step("Install", "pip install fastmcp"), Step("Download all skills into a directory", program, python=True)),
    )


def _agent_framework(target: Target) -> Guide:
    program = f"""from agent_framework import MCPSkillsSource
from mcp import Client


async def use_skills() -> None:
    async with Client("{target.url_with_token}/mcp") as client:
        source = MCPSkillsSource(client=client)"""
    return Guide(
        "agent-framework",
        "Microsoft Agent Framework",
        "Reads skills over MCP with its own skill source.",
        (
            Step("Install", "pip install agent-framework-core"),
            Step("Pass the source to your agent", program, python=True),
        ),
        needs=_READ_ONLY,
    )


@dataclass(frozen=True, slots=True)
class _Loader:
    """A framework whose loader is part of the Python client.

    `framework_import` and `loader` are imported, `use` is the last line. `quiet` is the setting that turns off
    telemetry.
    """

    key: str
    title: str
    package: str
    framework_import: str
    loader: str
    use: str
    quiet: str = ""

    def __call__(self, target: Target) -> Guide:
        flag = ", allow_http=True" if target.is_unencrypted else ""
        program = f"""import os

{self.framework_import}

from skillsite_client import SkillsiteClient
from skillsite_client.loaders.{self.key} import {self.loader}

client = SkillsiteClient("{target.site}", "{target.project}", os.environ["{_VARIABLE}"]{flag})
{self.use}"""
        steps = (
            _export(target, self.quiet),
            Step("Install both", f'pip install {self.package} "{target.wheel}"'),
            Step("In your program", program, python=True),
        )
        note = f"Keep {self.quiet}. Without it, {self.title} sends telemetry to its makers." if self.quiet else ""
        return Guide(self.key, self.title, "The Python client of this site includes a loader.", steps, note=note)


_LOADERS = (
    _Loader(
        "agno", "agno", "agno", "from agno.skills import Skills", "SkillsiteLoader",
        "loader = SkillsiteLoader(client)\ninstructions = loader.instructions  # with a token of an agent\n"
        "skills = Skills(loaders=[loader])", "AGNO_TELEMETRY=false",
    ),
    _Loader(
        "haystack", "Haystack", "haystack-ai", "from haystack.tools import SkillToolset", "SkillsiteStore",
        "store = SkillsiteStore(client)\nsystem_prompt = store.system_prompt()  # with a token of an agent\n"
        "tools = SkillToolset(store)", "HAYSTACK_TELEMETRY_ENABLED=false",
    ),
    _Loader(
        "deepagents", "deepagents", "deepagents",
        "from deepagents.backends import CompositeBackend, StateBackend", "SkillsiteBackend",
        "site = SkillsiteBackend(client)\nsystem_prompt = site.instructions()  # with a token of an agent\n"
        'backend = CompositeBackend(default=StateBackend(), routes={"/skills/": site})',
    ),
)  # fmt: skip


def _inspector(target: Target) -> Guide:
    header = f'--header "Authorization: Bearer {target.token}"'
    command = f"mcp-inspector --cli {target.mcp} --transport http \\\n    {header} --method skills/list --verify"
    return Guide(
        "inspector",
        "MCP Inspector",
        "Lists the skills and checks the digest of every file. Needs Node 22.",
        (
            Step("Install", "npm install --global @modelcontextprotocol/inspector"),
            Step("Check the connection", command),
        ),
    )


_GROUPS: dict[str, tuple[Callable[[Target], Guide], ...]] = {
    "Coding agents": (_claude_code, _cursor, _codex, _vs_code),
    "Files": (_skills, _client),
    "Programs": (_rest, _fastmcp, _agent_framework, *_LOADERS),
    "Check and discover": (_inspector, _well_known),
}
