"""Microsoft's agent framework discovers skills through its MCPSkillsSource, and loads body and files on demand."""

import asyncio
import json
import sys
import warnings
from unittest.mock import MagicMock

warnings.simplefilter("ignore")

from agent_framework import MCPSkillsSource, SkillsSourceContext  # noqa: E402
from mcp import Client  # noqa: E402


async def main(address: str, token: str, target: str) -> None:
    async with Client(f"{address}/t/{token}/mcp") as client:
        skills = await MCPSkillsSource(client=client).get_skills(SkillsSourceContext(agent=MagicMock()))
        by_name = {skill.frontmatter.name: skill for skill in skills}
        body = await by_name["plain-note"].get_content()
        assert "Just this." in body, body
        resource = await by_name["full-bundle"].get_resource("references/deep/er/notes.md")
        assert resource is not None
        assert "Notes" in str(await resource.read())
        assert await by_name["full-bundle"].get_resource("references/absent.md") is None
    print(json.dumps({"names": list(by_name), "said": f"{len(by_name)} skills, body and file read"}))


asyncio.run(main(*sys.argv[1:]))
