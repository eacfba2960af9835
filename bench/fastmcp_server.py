"""fastmcp with its skills extension, set up as in its documentation. bench/mcp.py runs it with another Python.

It is stateless and returns plain JSON, like Skillsite.
"""

import os

from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.skills.extension import SkillsExtension

DIRECTORY = os.environ["BENCH_SKILLS"]


def _with_extension() -> FastMCP:
    """Return a server that lists skills with digests, which the extension computes from the files."""
    server, provider = FastMCP("skills"), SkillsDirectoryProvider(DIRECTORY, experimental_skills=True)
    server.add_provider(provider)
    server.add_extension(SkillsExtension(providers=[provider]))
    return server


def _plain() -> FastMCP:
    """Return a server without the extension. It lists files, which it finds once at the start."""
    server = FastMCP("skills")
    server.add_provider(SkillsDirectoryProvider(DIRECTORY))
    return server


_server = _plain() if os.environ.get("BENCH_PLAIN") else _with_extension()
app = _server.http_app(path="/mcp", json_response=True, stateless_http=True)
