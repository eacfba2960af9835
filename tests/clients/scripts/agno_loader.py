"""agno lists the skills of a site, gives their instructions and reads a reference, through its own tools.

The bundle of one skill is damaged on the way. It is skipped, and the others are loaded.
"""

import json
import logging
import shutil
import sys
from pathlib import Path

import httpx
from agno.skills import Skills
from agno.utils.agent import execute_instructions
from skillsite_client import SkillsiteClient, resolve
from skillsite_client.loaders.agno import SkillsiteLoader
from skillsite_client.loaders.loading import Prompt


class Kept(logging.Handler):
    """Keeps the messages of the client."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


class Damaging(httpx.HTTPTransport):
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if "/odd-metadata/bundle.zip" in str(request.url):
            return httpx.Response(200, stream=httpx.ByteStream(b"not a zip"))
        return super().handle_request(request)


def main(address: str, token: str, target: str) -> None:
    kept = Kept()
    logging.getLogger("skillsite_client").addHandler(kept)
    with SkillsiteClient(address, "closed", token, cache_dir=f"{target}-cache", transport=Damaging()) as client:
        loader = SkillsiteLoader(client)
        skills = Skills(loaders=[loader])
        instructions = execute_instructions(instructions=loader.instructions)
        best = Skills(loaders=[SkillsiteLoader(client, for_prompt=Prompt("Write a plain note.", best=1))])
        assert best.get_skill_names() == ["plain-note"], best.get_skill_names()
    assert list(loader.skipped) == ["odd-metadata"], loader.skipped
    assert any("odd-metadata was skipped" in message for message in kept.messages), kept.messages
    assert "odd-metadata" not in skills.get_skill_names()
    assert "full-bundle" in skills.get_system_prompt_snippet()
    tools = {tool.name: tool.entrypoint for tool in skills.get_tools()}
    said = json.loads(tools["get_skill_instructions"](skill_name="full-bundle"))
    assert "Ä ö 日本" in said["instructions"], said
    reference = json.loads(tools["get_skill_reference"](skill_name="full-bundle", reference_path="deep/er/notes.md"))
    assert "with CRLF" in reference["content"], reference
    script = json.loads(tools["get_skill_script"](skill_name="full-bundle", script_path="run.py"))
    assert script["content"] == "print('hello')\n", script
    text = "---\nname: resolved-text\ndescription: Resolved without a site.\n---\n\nDo it.\n"
    definition = {"name": "resolved-text", "version": "1", "content": text}
    without_site = Skills(loaders=[SkillsiteLoader(resolve([definition], cache_dir=f"{target}-cache"))])
    assert without_site.get_skill_names() == ["resolved-text"]
    for skill in skills.get_all_skills():
        shutil.copytree(skill.source_path, Path(target) / skill.name)
    names = skills.get_skill_names()
    said = f"{len(names)} skills, files byte for byte, a damaged one skipped"
    print(json.dumps({"names": names, "directories": names, "instructions": instructions, "said": said}))


main(*sys.argv[1:])
