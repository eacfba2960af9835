"""Texts that a person typed into the editor."""

from registry.core.format.skill_form import Fields
from registry.services.drafts.drafts import FORM, Typed
from tests.conftest import skill_text

GOOD = Fields(
    name="tea-round",
    description="Makes a round of tea. Use when somebody asks for tea.",
    instructions="# Tea\n\nBoil water.",
)
BODY = "# Greeting\n\nSay hello.\n\n- one\n- two\n- three\n\nEnd.\n"


def typed(fields: Fields = GOOD, **changed: str) -> Typed:
    return Typed(FORM, Fields(**{**fields.as_json(), **changed}))


def text_with(**replaced: str) -> bytes:
    body = BODY
    for old, new in replaced.items():
        body = body.replace(old, new)
    return skill_text("greeting", body=body).encode()
