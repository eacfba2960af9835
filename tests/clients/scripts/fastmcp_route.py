"""fastmcp asks for the skill that fits, checks the result against the schema of the tool, and loads the skill."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.exceptions import ToolError


async def main(address: str, token: str, target: str) -> None:
    async with Client(f"{address}/mcp", auth=token) as client:
        (tool,) = (tool for tool in await client.list_tools() if tool.name == "route")
        assert set(tool.output_schema["required"]) >= {"matches", "none_of_these"}, tool
        names = []
        for query in ("full bundle", "plain-note", "from disk"):
            found = await client.call_tool("route", {"query": query, "limit": 2})
            names.append(found.structured_content["matches"][0]["name"])
            assert f"`{names[-1]}`" in found.content[0].text, found
        loaded = await client.call_tool("read_skill", {"skill_id": names[1]})
        assert "Just this." in loaded.content[0].text
        nothing = await client.call_tool("route", {"query": "zzz qqq xxyyzz"})
        assert nothing.content[0].text.startswith("None of these skills fits."), nothing
        try:
            await client.call_tool("route", {"query": "note", "limit": 0})
        except ToolError as error:
            assert "from 1 to 1,000" in str(error), error
        else:
            raise AssertionError("a limit of 0 was accepted")
        listed = await client.call_tool("list_skills", {"query": "notes"})
        assert "`plain-note`" in listed.content[0].text, listed
        version = client.protocol_version
    print(json.dumps({"names": names, "said": f"{len(names)} questions routed, none for the fourth, {version}"}))


asyncio.run(main(*sys.argv[1:]))
