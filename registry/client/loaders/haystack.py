"""Skills for Haystack: `Agent(tools=SkillToolset(store), system_prompt=store.system_prompt())`.

Skills and files are loaded on demand. One that cannot be loaded is an error of that tool call, which the model reads.
"""

import mimetypes
import os
import re
from base64 import b64encode
from dataclasses import asdict
from typing import Any

from haystack.core.serialization import default_from_dict, default_to_dict
from haystack.dataclasses import FileContent, ImageContent, SkillInfo

from registry.client import settings
from registry.client.client import SkillsiteClient
from registry.client.errors import Misconfigured, NotFound
from registry.client.http import checked_url
from registry.client.loaders.loading import Prompt, chosen
from registry.client.skill_source import SkillSource
from registry.client.values import Skill
from registry.core.bundle import SKILL_MD

_JINJA = re.compile(r"\{(?=[{%#])")  # the first character of an expression, a statement or a comment


class SkillsiteStore:
    """A skill store for Haystack. The default client uses SKILLSITE_URL, SKILLSITE_PROJECT and SKILLSITE_TOKEN.

    With `for_prompt`, it lists only the best skills for this prompt.

    A serialized pipeline has the address of the site, but not the token. If SKILLSITE_URL is set, the address must be
    the same, so that a pipeline from elsewhere cannot redirect the token. Before you load a pipeline, call
    `allow_deserialization_module("skillsite_client.loaders.haystack")`.
    """

    def __init__(
        self,
        client: SkillSource | None = None,
        *,
        url: str = "",
        project: str = "",
        for_prompt: Prompt | dict[str, Any] | None = None,
    ) -> None:
        self._client: SkillSource = client or settings.connect(url=url, project=project)
        self._prompt = Prompt(**for_prompt) if isinstance(for_prompt, dict) else for_prompt

    def list_skills(self) -> dict[str, SkillInfo]:
        lines = {line.name: SkillInfo(line.name, line.description) for line in self._client.catalog().skills}
        names = chosen(self._client, self._prompt)
        return lines if names is None else {name: lines[name] for name in names if name in lines}

    def load_skill(self, name: str) -> tuple[str, list[str]]:
        skill = self._read(name)
        return skill.instructions, _files(skill)

    def read_skill_file(self, name: str, path: str) -> str | ImageContent | FileContent:
        skill = self._read(name)
        try:
            content = self._client.file(skill.name, path, skill.version).content
        except NotFound as error:
            raise FileNotFoundError(f"{error.message} Its files are: {', '.join(_files(skill)) or 'none'}.") from error
        mime = mimetypes.guess_type(path)[0] or ""
        encoded = b64encode(content).decode()
        if mime == "application/pdf":
            return FileContent(base64_data=encoded, mime_type=mime, filename=path.rsplit("/", 1)[-1], validation=False)
        if mime.startswith("image/"):
            return ImageContent(base64_image=encoded, mime_type=mime, validation=False)
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} of {name} is neither text nor an image nor a PDF.") from error

    def system_prompt(self) -> str:
        """Return the instructions of the agent as a system prompt, without the catalog, which the toolset adds.

        Haystack reads a system prompt as a Jinja template, so everything that Jinja would replace is escaped.
        """
        return _JINJA.sub('{{ "{" }}', self._client.instructions(catalog="none").text)

    def to_dict(self) -> dict[str, Any]:
        if not isinstance(self._client, SkillsiteClient):
            raise ValueError("Only a store with a client of a site can be serialized. Resolve the skills again.")
        prompt = asdict(self._prompt) if self._prompt else None
        data: dict[str, Any] = default_to_dict(
            self, url=self._client.url, project=self._client.project, for_prompt=prompt
        )
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "SkillsiteStore":
        """Return the store of a serialized pipeline, which must not choose where the token is sent."""
        address = data.get("init_parameters", {}).get("url", "")
        expected = os.environ.get("SKILLSITE_URL", "")
        known = address and expected
        if known and checked_url(address, allow_http=True) != checked_url(expected, allow_http=True):
            raise Misconfigured(f"The pipeline is for {address}, but SKILLSITE_URL is {expected}. Change one of them.")
        store: SkillsiteStore = default_from_dict(cls, data)
        return store

    def _read(self, name: str) -> Skill:
        try:
            return self._client.read(name)
        except NotFound as error:
            raise KeyError(error.message) from error


def _files(skill: Skill) -> list[str]:
    return [entry.path for entry in skill.files if entry.path != SKILL_MD]
