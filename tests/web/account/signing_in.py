"""Signing in with a password, as a browser does."""

from typing import Any

from django.test import Client

PASSWORD = "correct horse 9"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def enter(client: Client, password: str = PASSWORD, username: str = "maja", **more: Any) -> Any:
    fields = {"username": username, "password": password, **more.pop("fields", {})}
    return client.post("/sign-in/", fields, headers={"User-Agent": FIREFOX}, **more)


def is_in(client: Client) -> bool:
    return bool(client.get("/projects/").status_code == 200)
