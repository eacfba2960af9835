"""How each known client is pointed at a project: the exact lines, with the address and the project filled in."""

import json
from collections.abc import Callable
from dataclasses import dataclass

PLACEHOLDER = "sks_…"
_VARIABLE = "SKILLSITE_TOKEN"
_PULL = "skillsite-client pull --for claude-code"


@dataclass(frozen=True, slots=True)
class Place:
    """What the lines are about: a site, one of its projects, and the wheel of the client that the site hands out."""

    site: str
    project: str
    wheel: str
    public: bool = False
    token: str = PLACEHOLDER

    @property
    def mcp(self) -> str:
        return f"{self.site}/mcp"

    @property
    def by_token(self) -> str:
        """For clients that send no header. The token must have the scope “read” and no other."""
        return f"{self.site}/t/{self.token}"

    @property
    def api(self) -> str:
        return f"{self.site}/api/v1/projects/{self.project}"

    @property
    def without_token(self) -> str:
        return f"{self.site}/projects/{self.project}"


@dataclass(frozen=True, slots=True)
class Step:
    """Lines to copy, with what they do, or the file they go to, said above them. `python` where they are a program."""

    label: str
    text: str
    python: bool = False


@dataclass(frozen=True, slots=True)
class Recipe:
    """`needs` is what the token must be; empty where none is needed."""

    key: str
    title: str
    what: str
    steps: tuple[Step, ...]
    needs: str = "a token with the scope read"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    recipes: tuple[Recipe, ...]


def groups(place: Place) -> tuple[Group, ...]:
    return tuple(Group(title, tuple(make(place) for make in makers)) for title, makers in _GROUPS.items())


def _export(place: Place, *more: str) -> Step:
    lines = (f"export {variable}" for variable in (f"{_VARIABLE}={place.token}", *more) if variable)
    return Step("Once, in the shell", "\n".join(lines))


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _claude_code(place: Place) -> Recipe:
    header = f'--header "Authorization: Bearer {place.token}"'
    return Recipe(
        "claude-code",
        "Claude Code",
        "Finds and loads skills while it works, and can propose changes.",
        (
            Step("Add the server", f"claude mcp add --transport http skills {place.mcp} {header}"),
            Step("Or have the skills as files, with the Python client of this site", _PULL),
        ),
        needs="a token with the scopes read and, to suggest changes, propose",
    )


def _cursor(place: Place) -> Recipe:
    header = {"Authorization": f"Bearer ${{env:{_VARIABLE}}}"}
    with_header = {"mcpServers": {"skills": {"url": place.mcp, "headers": header}}}
    by_address = {"mcpServers": {"skills": {"url": f"{place.by_token}/mcp"}}}
    return Recipe(
        "cursor",
        "Cursor",
        "The same server, named in a file.",
        (
            _export(place),
            Step(".cursor/mcp.json in a project, or ~/.cursor/mcp.json", _json(with_header)),
            Step(
                "If it asks you to sign in instead of sending the header: the token in the address", _json(by_address)
            ),
        ),
        note="A token in an address must have read as its only scope. Keep such a file out of version control.",
    )


def _codex(place: Place) -> Recipe:
    lines = f'[mcp_servers.skills]\nurl = "{place.mcp}"\nbearer_token_env_var = "{_VARIABLE}"'
    return Recipe(
        "codex",
        "Codex",
        "The same server, named in a file.",
        (_export(place), Step("~/.codex/config.toml", lines)),
    )


def _vs_code(place: Place) -> Recipe:
    asked = {"type": "promptString", "id": "skillsite", "description": "Token of Skillsite", "password": True}
    server = {"type": "http", "url": place.mcp, "headers": {"Authorization": "Bearer ${input:skillsite}"}}
    return Recipe(
        "vs-code",
        "VS Code",
        "Asks for the token once and keeps it itself.",
        (Step(".vscode/mcp.json", _json({"inputs": [asked], "servers": {"skills": server}})),),
    )


def _skills(place: Place) -> Recipe:
    start = place.without_token if place.public else place.by_token
    command = "DISABLE_TELEMETRY=1 npx skills add"
    return Recipe(
        "skills",
        "skills",
        "Copies skills into a directory that Claude Code and many other agents read.",
        (
            Step("Every skill of the project", f"{command} {start} --copy -a claude-code"),
            Step("One skill", f"{command} {start}/skills/NAME --copy -a claude-code"),
        ),
        needs="" if place.public else "a token with read as its only scope",
        note=(
            "Keep DISABLE_TELEMETRY=1: without it this command reports the address"
            f"{'' if place.public else ', and with it the token,'} to its makers."
        ),
    )


def _client(place: Place) -> Recipe:
    settings = (
        f"export SKILLSITE_URL={place.site}\nexport SKILLSITE_PROJECT={place.project}\nexport {_VARIABLE}={place.token}"
    )
    return Recipe(
        "client",
        "Python client",
        "Pulls the skills as files, checks them against their digests, and transfers only what changed.",
        (
            Step("Install it from this site", f'pip install "{place.wheel}"'),
            Step("Say where and who", settings),
            Step(
                "Skills as files, for Claude Code; cursor and codex work as well",
                "skillsite-client pull --for claude-code",
            ),
            Step(
                "In CI: fails if the files are not those of the project",
                "skillsite-client pull --for claude-code --check",
            ),
            Step("Look from the shell", "skillsite-client catalog\nskillsite-client read NAME"),
        ),
    )


def _rest(place: Place) -> Recipe:
    def get(path: str, options: str = "") -> str:
        return f'curl {options}-H "Authorization: Bearer ${_VARIABLE}" "{place.api}{path}"'

    return Recipe(
        "rest",
        "HTTP",
        "Everything else is built on this. The answers carry ETags and digests.",
        (
            _export(place),
            Step("The catalog, ready for a prompt", get("/catalog?format=text&budget=2000")),
            Step("The instructions of one skill", get("/skills/NAME")),
            Step("One of its files", get("/skills/NAME/files/references/FILE.md")),
            Step("The whole skill", get("/skills/NAME/bundle.zip", "-o NAME.zip ")),
            Step("All that one agent is told", get("/agents/AGENT/instructions?format=text")),
        ),
    )


def _well_known(place: Place) -> Recipe:
    start = place.without_token if place.public else place.by_token
    return Recipe(
        "well-known",
        "Well-known discovery",
        "For any other client that looks for skills below an address: give it the address without the last part.",
        (Step("What there is", f"curl {start}/.well-known/agent-skills/index.json"),),
        needs="" if place.public else "a token with read as its only scope",
    )


def _fastmcp(place: Place) -> Recipe:
    program = f"""import asyncio

from fastmcp import Client
from fastmcp.utilities.skills import sync_skills


async def main() -> None:
    async with Client("{place.mcp}", auth="{place.token}") as client:
        await sync_skills(client, "skills")


asyncio.run(main())"""
    return Recipe(
        "fastmcp",
        "fastmcp",
        "Downloads every skill, or reads them one by one.",
        (Step("Install it", "pip install fastmcp"), Step("Every skill into a directory", program, python=True)),
    )


def _agent_framework(place: Place) -> Recipe:
    program = f"""from agent_framework import MCPSkillsSource
from mcp import Client


async def use_skills() -> None:
    async with Client("{place.by_token}/mcp") as client:
        source = MCPSkillsSource(client=client)"""
    return Recipe(
        "agent-framework",
        "Microsoft Agent Framework",
        "Its own source of skills, over MCP.",
        (
            Step("Install it", "pip install agent-framework-core"),
            Step("Give the source to your agent", program, python=True),
        ),
        needs="a token with read as its only scope",
    )


@dataclass(frozen=True, slots=True)
class _Loader:
    """A framework whose loader is part of the Python client: its package, what is imported from it, and the use.

    `quiet` is the setting without which the framework reports to its makers.
    """

    key: str
    title: str
    package: str
    theirs: str
    ours: str
    use: str
    quiet: str = ""

    def __call__(self, place: Place) -> Recipe:
        program = f"""import os

{self.theirs}

from skillsite_client import SkillsiteClient
from skillsite_client.loaders.{self.key} import {self.ours}

client = SkillsiteClient("{place.site}", "{place.project}", os.environ["{_VARIABLE}"])
{self.use}"""
        steps = (
            _export(place, self.quiet),
            Step("Install both", f'pip install {self.package} "{place.wheel}"'),
            Step("In your program", program, python=True),
        )
        note = f"Keep {self.quiet}: without it {self.title} reports its use to its makers." if self.quiet else ""
        return Recipe(self.key, self.title, "A loader comes with the Python client of this site.", steps, note=note)


_LOADERS = (
    _Loader(
        "agno", "agno", "agno", "from agno.skills import Skills", "SkillsiteLoader",
        "skills = Skills(loaders=[SkillsiteLoader(client)])", "AGNO_TELEMETRY=false",
    ),
    _Loader(
        "haystack", "Haystack", "haystack-ai", "from haystack.tools import SkillToolset", "SkillsiteStore",
        "tools = SkillToolset(SkillsiteStore(client))", "HAYSTACK_TELEMETRY_ENABLED=false",
    ),
    _Loader(
        "deepagents", "deepagents", "deepagents",
        "from deepagents.backends import CompositeBackend, StateBackend", "SkillsiteBackend",
        'backend = CompositeBackend(default=StateBackend(), routes={"/skills/": SkillsiteBackend(client)})',
    ),
)  # fmt: skip


def _inspector(place: Place) -> Recipe:
    command = (
        f"mcp-inspector --cli {place.mcp} --transport http \\\n"
        f'    --header "Authorization: Bearer {place.token}" --method skills/list --verify'
    )
    return Recipe(
        "inspector",
        "MCP Inspector",
        "Lists the skills and checks every file against its digest. It needs Node 22.",
        (
            Step("Install it", "npm install --global @modelcontextprotocol/inspector"),
            Step("Check the connection", command),
        ),
    )


_GROUPS: dict[str, tuple[Callable[[Place], Recipe], ...]] = {
    "Agents at your desk": (_claude_code, _cursor, _codex, _vs_code),
    "As files": (_skills, _client),
    "In a program": (_rest, _fastmcp, _agent_framework, *_LOADERS),
    "Check and discover": (_inspector, _well_known),
}
