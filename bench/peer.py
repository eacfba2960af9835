"""fastmcp with its skills extension over a directory, as its manual sets it up. Run by bench/doors.py with its Python.

Messages are answered one by one and as plain JSON, as Skillsite answers them.
"""

import os

from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.skills.extension import SkillsExtension

DIRECTORY = os.environ["BENCH_SKILLS"]


def _listing() -> FastMCP:
    """Skills with their digests, which the extension computes from the files."""
    server, provider = FastMCP("skills"), SkillsDirectoryProvider(DIRECTORY, experimental_skills=True)
    server.add_provider(provider)
    server.add_extension(SkillsExtension(providers=[provider]))
    return server


def _plain() -> FastMCP:
    """Files only, found once at the start, without the extension."""
    server = FastMCP("skills")
    server.add_provider(SkillsDirectoryProvider(DIRECTORY))
    return server


_server = _plain() if os.environ.get("BENCH_PLAIN") else _listing()
app = _server.http_app(path="/mcp", json_response=True, stateless_http=True)
