"""fastmcp starts a run, says that it needs a person, waits, and reads the outputs after the approval.

fastmcp checks each result against the schema of its tool.
"""

import asyncio
import json
import sys
import time

from fastmcp import Client
from fastmcp.exceptions import ToolError

SKILL = "ask-first"


async def main(address: str, token: str) -> None:
    async with Client(f"{address}/mcp", auth=token) as client:
        names = {tool.name for tool in await client.list_tools()}
        assert names >= {"start_run", "wait_for_run", "get_run", "list_runs", "cancel_run", "call_capability"}, names
        assert not [name for name in names if "approve" in name]
        loaded = await client.call_tool("read_skill", {"skill_id": SKILL})
        assert "Call start_run with skill “ask-first”" in loaded.content[0].text, loaded
        try:
            await client.call_tool("start_run", {"skill": SKILL})
        except ToolError as error:
            assert "name" in str(error), error
        else:
            raise AssertionError("a run without its input was started")
        run = (await client.call_tool("start_run", {"skill": SKILL, "inputs": {"name": "Ada"}})).structured_content
        while run["state"] != "waiting":
            assert run["state"] in ("queued", "running"), run
            run = (await client.call_tool("wait_for_run", {"id": run["id"]})).structured_content
        (question,) = run["questions"]
        assert question["text"] == "Greet Ada?" and run["page"] in run["next"], run
        print(json.dumps({"run": run["id"]}), flush=True)  # a person approves now

        started, waits = time.monotonic(), 0
        while run["state"] != "completed":
            assert run["state"] in ("queued", "running", "waiting"), run
            arguments = {"id": run["id"], "seen": run["changes"]}
            run = (await client.call_tool("wait_for_run", arguments)).structured_content
            waits += 1
        assert run["outputs"] == {"text": "Hello Ada"}, run
        seconds = time.monotonic() - started
        called = await client.call_tool("call_capability", {"capability": "text.trim", "inputs": {"text": " a "}})
        assert called.structured_content["outputs"] == {"text": "a"}, called
        listed = (await client.call_tool("list_runs", {"state": "completed"})).structured_content["runs"]
        assert [one["skill"] for one in listed] == ["text.trim", SKILL], listed
        version = client.protocol_version
    said = f"completed {seconds:.1f} s after it asked, in {waits} waits; a capability called; {version}"
    print(json.dumps({"said": said}))


asyncio.run(main(*sys.argv[1:]))
