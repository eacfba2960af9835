"""fastmcp lists skills through the extension, and every file it reads has the digest and size that was promised."""

import asyncio
import base64
import hashlib
import json
import sys

from fastmcp import Client
from fastmcp.skills import SkillsClientExtension


def _bytes(content: object) -> bytes:
    text = getattr(content, "text", None)
    return text.encode() if text is not None else base64.b64decode(content.blob)


async def main(address: str, token: str, target: str) -> None:
    files = 0
    async with Client(f"{address}/mcp", auth=token, extensions=[SkillsClientExtension()]) as client:
        skills = await client.list_skills()
        for skill in skills:
            assert (await client.get_skill(skill.uri)) == skill
            for resource in skill.resources:
                content = _bytes((await client.read_resource(resource.uri))[0])
                assert len(content) == resource.size, resource.uri
                assert f"sha256:{hashlib.sha256(content).hexdigest()}" == resource.digest, resource.uri
                files += 1
        loaded = await client.call_tool("read_skill", {"skill_id": "plain-note"})
        assert "Just this." in loaded.content[0].text
        (prompt,) = await client.list_prompts()
        text = (await client.get_prompt(prompt.name)).messages[0].content.text
        assert text.startswith("You test {{ client }}") and "[Available Skills]" in text, text
        version = client.protocol_version
    names = [skill.frontmatter.name for skill in skills]
    assert "odd-metadata" not in names
    print(json.dumps({"names": names, "said": f"{len(names)} skills and {files} files verified, {version}"}))


asyncio.run(main(*sys.argv[1:]))
