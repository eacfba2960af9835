"""The methods that the loaders use. `SkillsiteClient` and `ResolvedSkills` have them."""

from pathlib import Path
from typing import Literal, Protocol

from registry.client.values import Catalog, EffectiveList, EffectiveSkill, File, Instructions, Routed, Skill
from registry.core.bundle import Bundle


class SkillSource(Protocol):
    def catalog(self) -> Catalog: ...

    def effective(self) -> EffectiveList: ...

    def read(self, name: str, version: str | None = None) -> Skill: ...

    def file(self, name: str, path: str, version: str | None = None) -> File: ...

    def cached(self, skill: EffectiveSkill) -> Bundle | None: ...

    def fetch(self, skill: EffectiveSkill) -> Bundle: ...

    def fetch_directory(self, skill: EffectiveSkill) -> Path: ...

    def route(
        self, question: str, *, limit: int | None = None, kind: str = "", threshold: float | None = None
    ) -> Routed: ...

    def instructions(
        self, agent: str = "", *, catalog: Literal["text", "xml", "none"] = "text", budget: str = ""
    ) -> Instructions: ...
