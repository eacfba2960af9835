"""Tokens, scopes and projects: who may read and write, and that nothing leaks between projects."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from registry.core import roles
from registry.models import Project, Token, User
from registry.services.agents import tokens
from registry.services.people import members, projects
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.api.operations import READS, WRITES, every_response
from tests.conftest import Api, skill_bundle
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind


@pytest.fixture
def bot(full: Project, api: Callable[..., Api]) -> Api:
    return api("read", "write")


def test_a_request_without_a_token_is_refused(full: Project) -> None:
    for response in every_response(Api(full, "")):
        body = problem(response, 401, "unauthenticated")
        assert response["WWW-Authenticate"] == 'Bearer realm="skillsite"'
        assert "Authorization: Bearer" in body["detail"]


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic YTpi", "sks_abc", "Token sks_abc", "Bearer sks_unknown", "Bearer é"]
)
def test_an_invalid_authorization_header_is_refused(full: Project, header: str) -> None:
    caller = Api(full, "")
    caller.headers = {"Authorization": header}
    for response in every_response(caller):
        problem(response, 401, "unauthenticated")


@pytest.mark.parametrize("way", ["expired", "revoked", "archived", "retired"])
def test_an_inactive_token_is_refused(full: Project, way: str, person: Callable[[str], User], operator: Actor) -> None:
    user = person(roles.OWNER)
    caller = Api(full, tokens.create_token(full, user=user, scopes=["read", "write"], by=operator))
    assert caller.get("/catalog").status_code == 200
    if way == "expired":
        Token.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif way == "revoked":
        tokens.revoke_token(full, Token.objects.get().pk, by=operator)
    elif way == "archived":
        projects.archive(full, by=operator)
    else:
        User.objects.filter(pk=user.pk).update(is_active=False)
    with nothing_left_behind():
        for response in every_response(caller):
            problem(response, 401, "unauthenticated")


def test_the_token_of_another_project_gets_404(full: Project, other_project: Project, api: Callable[..., Api]) -> None:
    stranger = api("read", "write", where=other_project)
    stranger.base = f"/api/v1/projects/{full.slug}"
    with nothing_left_behind():
        for response in every_response(stranger):
            body = problem(response, 404, "not-found")
            assert body["detail"] == "There is no such project."


def test_a_missing_project_answers_like_a_foreign_one(bot: Api) -> None:
    bot.base = "/api/v1/projects/nowhere"
    for response in every_response(bot):
        assert problem(response, 404, "not-found")["detail"] == "There is no such project."


def test_reads_need_the_scope_read(full: Project, api: Callable[..., Api]) -> None:
    writer = api("write")
    for path in READS[:-1]:
        assert problem(writer.get(path), 403, "forbidden")["scope"] == "read"


def test_writes_and_history_need_the_scope_write(full: Project, api: Callable[..., Api]) -> None:
    reader = api("read", "propose")
    assert problem(reader.get("/skills/greeting/versions"), 403, "forbidden")["scope"] == "write"
    with nothing_left_behind():
        for method, path in WRITES:
            assert problem(reader.send(method, path, {}), 403, "forbidden")["scope"] == "write"
        problem(reader.upload(b"not even a zip"), 403, "forbidden")
        problem(reader.send("POST", "/skills", "{malformed"), 403, "forbidden")


def test_a_persons_token_is_limited_by_their_current_role(
    full: Project, person: Callable[[str], User], operator: Actor
) -> None:
    user = person(roles.AUTHOR)
    caller = Api(full, tokens.create_token(full, user=user, scopes=["read", "write"], by=operator))
    reader = Api(full, tokens.create_token(full, user=user, scopes=["read"], by=operator))
    assert caller.send("DELETE", "/skills/greeting").status_code == 204
    members.set_role(full, user, roles.VIEWER, by=operator)
    problem(caller.get("/catalog"), 401, "unauthenticated")
    assert reader.get("/catalog").status_code == 200
    members.remove(full, user, by=operator)
    problem(reader.get("/catalog"), 401, "unauthenticated")


def test_names_of_another_project_do_not_leak(
    full: Project, other_project: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    create_skill(other_project, skill_bundle("their-secret"), by=operator)
    bot = api("read", "write")
    for path in (*READS, "/skills/their-secret", "/skills/their-secret/versions", "/catalog?q=their-secret"):
        response = bot.get(path)
        assert "their-secret" not in response.content.decode(errors="replace") or response.status_code == 404
    missing = bot.get("/skills/their-secret").json()["detail"]
    assert missing == bot.get("/skills/no-such-one").json()["detail"].replace("no-such-one", "their-secret")
