"""fastmcp downloads every skill with its sync_skills."""

import asyncio
import json
import sys
from pathlib import Path

from fastmcp import Client
from fastmcp.utilities.skills import sync_skills


async def main(address: str, token: str, target: str) -> None:
    Path(target).mkdir(parents=True, exist_ok=True)
    async with Client(f"{address}/mcp", auth=token) as client:
        paths = await sync_skills(client, target)
    names = [path.name for path in paths]
    print(json.dumps({"names": names, "directories": names, "said": f"{len(names)} skills, byte for byte"}))


asyncio.run(main(*sys.argv[1:]))
