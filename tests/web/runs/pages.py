"""Addresses and requests of the pages of questions."""

from typing import Any

from django.test import Client

from registry.models import RunQuestion


def url(question: RunQuestion, *, run: int | None = None) -> str:
    return f"/projects/demo/runs/{run or question.run_id}/questions/{question.pk}/"


def text(response: Any, status: int = 200) -> str:
    assert response.status_code == status, response.status_code
    return str(response.content.decode())


def page(client: Client, question: RunQuestion) -> str:
    return text(client.get(url(question)))


def act(client: Client, question: RunQuestion, part: str, *, follow: bool = False, **form: str) -> Any:
    """Send a form of the page, with the digest that it shows unless another one is given."""
    return client.post(f"{url(question)}{part}/", {"digest": question.digest, **form}, follow=follow)
