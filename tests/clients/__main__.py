"""Run every check and print how many passed."""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.clients import checks, loaders, tools
from tests.clients.site import EXPECTED, Site, running

_ALL = set(EXPECTED)


def _named() -> dict[str, Callable[[Site, Path], str]]:
    old, new = tools.node_20("skills"), tools.node_22("skills")
    found: dict[str, Callable[[Site, Path], str]] = {}
    for label, command in (("skills 1.5.18, Node of the machine", old), ("skills 1.7.4, Node 22", new)):
        found[f"{label}: public site"] = checks.skills_cli(command, "{site.address}", _ALL)
        found[f"{label}: public project"] = checks.skills_cli(command, "{site.address}/projects/open", _ALL)
        found[f"{label}: private, token in the address"] = checks.skills_cli(command, "{site.by_token}", _ALL)
        found[f"{label}: one skill of a private project"] = checks.skills_cli_one(command)
    for scenario in checks.CONFORMANCE:
        found[f"MCP conformance, sep-2640 {scenario}"] = checks.conformance(scenario)
    found["MCP Inspector 2.12.0: skills/list --verify"] = checks.inspector
    found["MCP Inspector 2.12.0: bearer token in a header"] = checks.inspector_with_header
    found["MCP Inspector 2.12.0: prompts/get"] = checks.inspector_prompt
    found["Claude Code 2.1.197: mcp add, mcp list"] = checks.claude_code
    found["Claude Code 2.1.197: route"] = checks.claude_code_route
    found["fastmcp 4.1.2: sync_skills"] = checks.python_client("fastmcp_sync.py")
    found["fastmcp 4.1.2: skills extension"] = checks.python_client("fastmcp_skills.py")
    found["fastmcp 4.1.2: route"] = checks.python_client("fastmcp_route.py")
    found["fastmcp 4.1.2: a run that waits for a person"] = checks.fastmcp_run
    found["agent-framework 1.23.0: MCPSkillsSource"] = checks.python_client("agent_framework_source.py")
    found |= loaders.named()
    found["log of the server"] = checks.no_secret_in_the_log
    return found


def main() -> int:
    tools.install()
    wanted = sys.argv[1:]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as directory, running(Path(directory)) as site:
        for number, (name, check) in enumerate(_named().items()):
            if wanted and not any(word in name for word in wanted):
                continue
            started = time.monotonic()
            try:
                said = check(site, Path(directory) / f"home-{number}")
                passed += 1
                print(f"pass  {name}: {said} ({time.monotonic() - started:.1f} s)", flush=True)
            except Exception as error:
                failed += 1
                print(f"FAIL  {name}: {type(error).__name__}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main())
