"""A deep agent whose model is a script: it finds the skills in its prompt, reads one, and cannot write to it."""

import json
import sys
from collections.abc import Sequence
from typing import Any

import httpx
from deepagents import create_deep_agent
from deepagents.backends import CompositeBackend, StateBackend
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from skillsite_client import SkillsiteClient, resolve
from skillsite_client.loaders.deepagents import SkillsiteBackend
from skillsite_client.loaders.loading import Prompt

prompts: list[str] = []


class Damaging(httpx.HTTPTransport):
    """Damages one skill on the way. The others must still be in the prompt."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if "/skills/odd-metadata" in str(request.url):
            return httpx.Response(200, stream=httpx.ByteStream(b"{"))
        return super().handle_request(request)


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools: Sequence[Any], **given: Any) -> "Scripted":
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **given: Any) -> Any:
        prompts.append(str(messages[0].text))
        return super()._generate(messages, *args, **given)


def call(number: int, name: str, **arguments: str) -> AIMessage:
    return AIMessage(content="", tool_calls=[{"id": str(number), "name": name, "args": arguments}])


def main(address: str, token: str, target: str) -> None:
    client = SkillsiteClient(address, "closed", token, cache_dir=f"{target}-cache", transport=Damaging())
    site = SkillsiteBackend(client)
    backend = CompositeBackend(default=StateBackend(), routes={"/skills/": site})
    script = [
        call(1, "read_file", file_path="/skills/full-bundle/SKILL.md"),
        call(2, "ls", path="/skills/full-bundle/references"),
        call(3, "read_file", file_path="/skills/full-bundle/references/deep/er/notes.md"),
        call(4, "write_file", file_path="/skills/full-bundle/new.md", content="x"),
        call(5, "read_file", file_path="/skills/absent/SKILL.md"),
        call(6, "grep", pattern="Full"),
        AIMessage(content="done"),
    ]
    agent = create_deep_agent(
        model=Scripted(messages=iter(script)), backend=backend, skills=["/skills/"], system_prompt=site.instructions()
    )
    state = agent.invoke({"messages": [{"role": "user", "content": "Go on."}]})
    said = {m.tool_call_id: str(m.content) for m in state["messages"] if m.type == "tool"}
    assert "Everything that is hard to carry" in prompts[0], prompts[0][-3000:]
    assert "odd-metadata" not in prompts[0]
    assert "Ä ö 日本" in said["1"], said["1"]
    assert "/skills/full-bundle/references/deep" in said["2"], said["2"]
    assert "with CRLF" in said["3"], said["3"]
    assert "read-only" in said["4"], said["4"]
    assert "no skill" in said["5"].lower() or "not" in said["5"].lower(), said["5"]
    assert "Error" not in said["6"], said["6"]
    files = backend.download_files(["/skills/full-bundle/assets/all-bytes.bin"])
    assert files[0].content == bytes(range(256)) * 40
    best = SkillsiteBackend(client, for_prompt=Prompt("Write a plain note.", best=1)).ls("/")
    assert [entry["path"] for entry in best.entries] == ["/plain-note/"], best
    text = "---\nname: resolved-text\ndescription: Resolved without a site.\n---\n\nDo it.\n"
    definition = {"name": "resolved-text", "version": "1", "content": text}
    without_site = SkillsiteBackend(resolve([definition], cache_dir=f"{target}-cache"))
    assert without_site.download_files(["/resolved-text/SKILL.md"])[0].content == text.encode()
    names = [name for name in ("full-bundle", "plain-note", "from-disk") if name in prompts[0]]
    facts = f"{len(names)} skills and the instructions in the prompt, files read, writing refused"
    print(json.dumps({"names": names, "instructions": prompts[0], "said": facts}))


main(*sys.argv[1:])
