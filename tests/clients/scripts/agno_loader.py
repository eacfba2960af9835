"""agno lists the skills of a site, gives their instructions and reads a reference, through its own tools."""

import json
import shutil
import sys
from pathlib import Path

from agno.skills import Skills
from skillsite_client import SkillsiteClient
from skillsite_client.loaders.agno import SkillsiteLoader


def main(address: str, token: str, target: str) -> None:
    with SkillsiteClient(address, "closed", token, cache_dir=f"{target}-cache") as client:
        skills = Skills(loaders=[SkillsiteLoader(client)])
    assert "full-bundle" in skills.get_system_prompt_snippet()
    tools = {tool.name: tool.entrypoint for tool in skills.get_tools()}
    said = json.loads(tools["get_skill_instructions"](skill_name="full-bundle"))
    assert "Ä ö 日本" in said["instructions"], said
    reference = json.loads(tools["get_skill_reference"](skill_name="full-bundle", reference_path="deep/er/notes.md"))
    assert "with CRLF" in reference["content"], reference
    script = json.loads(tools["get_skill_script"](skill_name="full-bundle", script_path="run.py"))
    assert script["content"] == "print('hello')\n", script
    for skill in skills.get_all_skills():
        shutil.copytree(skill.source_path, Path(target) / skill.name)
    names = skills.get_skill_names()
    print(json.dumps({"names": names, "directories": names, "said": f"{len(names)} skills, files byte for byte"}))


main(*sys.argv[1:])
