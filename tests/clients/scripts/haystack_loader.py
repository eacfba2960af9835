"""Haystack's skill tools over a site: list, load and read, and a pipeline that is saved and loaded again."""

import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

from haystack import component
from haystack.components.agents import Agent
from haystack.core.serialization import allow_deserialization_module
from haystack.dataclasses import ChatMessage, ImageContent
from haystack.tools import SkillToolset
from skillsite_client import SkillsiteClient, resolve
from skillsite_client.errors import Misconfigured
from skillsite_client.loaders.haystack import SkillsiteStore
from skillsite_client.loaders.loading import Prompt


@component
class Scripted:
    """A model that keeps the system prompt that it gets."""

    system_prompt = ""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **more: Any) -> dict[str, Any]:
        Scripted.system_prompt = messages[0].text or ""
        return {"replies": [ChatMessage.from_assistant("Done.")]}


def expect(kind: type[Exception], act: object, **given: Any) -> None:
    try:
        act(**given)
    except kind:
        return
    raise AssertionError(f"{given} was expected to be a {kind.__name__}")


def main(address: str, token: str, target: str) -> None:
    os.environ["SKILLSITE_TOKEN"] = token
    os.environ["SKILLSITE_CACHE"] = f"{target}-cache"
    store = SkillsiteStore(SkillsiteClient(address, "closed", token, cache_dir=f"{target}-cache"))
    toolset = SkillToolset(store)
    saved = toolset.to_dict()
    assert token not in json.dumps(saved), "the token stands in the saved pipeline"
    allow_deserialization_module("skillsite_client.loaders.haystack")
    os.environ["SKILLSITE_URL"] = "https://skills.example.org"
    expect(Misconfigured, SkillToolset.from_dict, data=saved)
    os.environ["SKILLSITE_URL"] = f"{address}/"
    toolset = SkillToolset.from_dict(saved)
    toolset.warm_up()
    tools = {tool.name: tool for tool in toolset}
    assert "Ä ö 日本" in str(tools["load_skill"].invoke(name="full-bundle"))
    assert "Inhalt" in tools["read_skill_file"].invoke(
        name="full-bundle", path="assets/Übersicht – São Paulo 日本語.txt"
    )
    store = SkillsiteStore(url=address, project="closed")
    expect(KeyError, store.load_skill, name="absent")
    expect(FileNotFoundError, store.read_skill_file, name="full-bundle", path="../plain-note/SKILL.md")
    expect(ValueError, store.read_skill_file, name="full-bundle", path="assets/all-bytes.bin")
    agent = Agent(chat_generator=Scripted(), tools=toolset, system_prompt=store.system_prompt())
    agent.run(messages=[ChatMessage.from_user("Go on.")])
    text = "---\nname: resolved-text\ndescription: Resolved without a site.\n---\n\nDo it.\n"
    definition = {"name": "resolved-text", "version": "1", "content": text}
    without_site = SkillsiteStore(resolve([definition], cache_dir=f"{target}-cache"))
    assert without_site.load_skill("resolved-text")[0].strip() == "Do it."
    assert list(without_site.list_skills()) == ["resolved-text"]
    best = SkillsiteStore(url=address, project="closed", for_prompt=Prompt("Write a plain note.", best=1))
    assert list(best.list_skills()) == ["plain-note"], best.list_skills()
    assert list(SkillsiteStore.from_dict(best.to_dict()).list_skills()) == ["plain-note"]
    names = list(store.list_skills())
    _, paths = store.load_skill("full-bundle")
    (Path(target) / "full-bundle").mkdir(parents=True)
    picture = store.read_skill_file("full-bundle", "assets/picture.png")
    assert isinstance(picture, ImageContent)
    assert base64.b64decode(picture.base64_image).startswith(b"\x89PNG")
    said = f"{len(names)} skills, {len(paths)} files listed, text and image read, system prompt unchanged"
    print(json.dumps({"names": names, "instructions": Scripted.system_prompt, "said": said}))


main(*sys.argv[1:])
