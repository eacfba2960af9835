"""Requests that resolve definitions and read the files of resolved skills."""

from typing import Any

from registry.core.bundle import SKILL_MD, Bundle
from tests.conftest import Api, skill_text

TEXT = skill_text("a")
DIGEST = Bundle({SKILL_MD: TEXT.encode()}).digest


def resolve(bot: Api, *entries: Any) -> list[dict[str, Any]]:
    answer = bot.send("POST", "/resolve", {"skills": list(entries)})
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["skills"]
    return found


def inline(name: str = "a", text: str = TEXT, version: Any = 3) -> dict[str, Any]:
    return {"Format": "SkillMd", "Name": name, "Version": version, "IsActive": True, "SkillMd": text}


def ask(bot: Api, path: str, name: str = "a", version: str = "3", *, digest: str = DIGEST, **more: str) -> Any:
    query = {"digest": digest, **more} if digest else more
    return bot.client.get(f"{bot.base}/resolved/{name}/{version}/files/{path}", query, headers=bot.headers)
