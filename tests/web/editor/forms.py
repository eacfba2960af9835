"""Forms of the editor, as a browser sends them."""

from typing import Any

from django.test import Client

from registry.models import Draft

NEW = "/projects/demo/new/"
EDIT = "/projects/demo/skills/greeting/edit/"
CONFLICT = f"{EDIT}conflict/"
FORM = {
    "mode": "form",
    "seen": "",
    "base": "",
    "name": "tea-round",
    "description": "Makes a round of tea. Use when somebody asks for tea.",
    "kind": "tool",
    "instructions": "# Tea\r\n\r\nBoil water.",
}
HTMX = {"HX-Request": "true"}


def post(browser: Client, url: str, do: str, headers: dict[str, str] | None = None, **more: Any) -> Any:
    draft = Draft.objects.filter(name="" if url.startswith(NEW) else "greeting").first()
    seen = str(round(draft.updated_at.timestamp() * 1_000_000)) if draft else ""
    return browser.post(url, {**FORM, "seen": seen, "do": do, **more}, headers=headers or {})


def raw(browser: Client, url: str, do: str, text: str, **more: Any) -> Any:
    return post(browser, url, do, mode="raw", text=text, **more)
