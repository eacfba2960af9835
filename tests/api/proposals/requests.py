"""Requests that propose a change of the skill greeting and approve it."""

from typing import Any

from tests.conftest import Api, skill_text

BODY = "# greeting\n\nOne\nTwo\nThree\n"
NEW = skill_text(body=BODY.replace("One", "Uno"))
WHY = "The old text is wrong."


def propose(caller: Api, **more: Any) -> Any:
    body = {"skill": "greeting", "skill_md": NEW, "justification": WHY, **more}
    return caller.send("POST", "/proposals", {name: value for name, value in body.items() if value is not ...})


def created(caller: Api, **more: Any) -> dict[str, Any]:
    answer = propose(caller, **more)
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def approve(caller: Api, proposal: dict[str, Any], **more: Any) -> Any:
    body = {"result_digest": proposal["result_digest"], **more}
    return caller.send("POST", f"/proposals/{proposal['id']}/approve", body)
