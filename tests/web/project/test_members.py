"""Members and invitations: roles, leaving, joining, and permissions."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from registry.core import roles
from registry.models import Event, Invitation, Membership, Project, Token, User
from registry.services import permissions
from registry.services.agents import agents, tokens
from registry.services.people import accounts, invitations, members, projects
from registry.services.permissions import Actor
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser

Person = Callable[[str], User]
NOT_OWNERS = [roles.VIEWER, roles.AUTHOR, roles.REVIEWER]
LIST, INVITE = "/projects/demo/members/", "/projects/demo/members/invite/"
NEW = {"username": "maja", "full_name": "Maja Lindqvist", "password": "correct horse 9"}


def of(user: User, project: Project) -> str | None:
    return Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()


def address(project: Project, user: User, what: str) -> str:
    return f"{LIST}{Membership.objects.get(project=project, user=user).pk}/{what}/"


def invited(project: Project, role: str = roles.AUTHOR, *, by: Actor) -> str:
    return f"/invitation/{invitations.make(project, role, by=by)}/"


def warm(client: Client) -> Client:
    client.get("/projects/")
    return client


# -- Seeing and changing members ----------------------------------------------------------------------------


@pytest.mark.parametrize("role", roles.ROLES)
def test_everybody_sees_the_members_and_owners_see_how_to_change_them(
    project: Project, person: Person, browser_client: Browser, role: str
) -> None:
    person(roles.OWNER), person(roles.VIEWER)
    page = browser_client(role).get(LIST).content.decode()
    assert ">owner" in page
    assert ">viewer" in page
    assert ("Create invitation link" in page) == (role == roles.OWNER)
    assert ('name="role"' in page) == (role == roles.OWNER)


def test_an_owner_changes_a_role(project: Project, person: Person, browser_client: Browser) -> None:
    client, viewer = browser_client(roles.OWNER), person(roles.VIEWER)
    response = client.post(address(project, viewer, "role"), {"role": roles.REVIEWER})
    assert (response.status_code, response["Location"]) == (302, LIST)
    assert of(viewer, project) == roles.REVIEWER
    assert "viewer is now a reviewer." in client.get(LIST).content.decode()


@pytest.mark.parametrize("role", ["", "god", "Owner", "owner "])
def test_a_role_that_does_not_exist_is_refused(
    project: Project, person: Person, browser_client: Browser, role: str
) -> None:
    client, viewer = warm(browser_client(roles.OWNER)), person(roles.VIEWER)
    with nothing_left_behind():
        assert client.post(address(project, viewer, "role"), {"role": role}).status_code == 422


def test_a_removed_member_is_out_at_once(project: Project, person: Person, browser_client: Browser) -> None:
    owner, author = browser_client(roles.OWNER), browser_client(roles.AUTHOR)
    assert author.get(LIST).status_code == 200
    owner.post(address(project, person(roles.AUTHOR), "remove"))
    assert author.get(LIST).status_code == 404
    assert "author is no longer a member." in owner.get(LIST).content.decode()


def test_the_token_of_a_removed_member_reads_nothing(
    project: Project, person: Person, operator: Actor, browser_client: Browser
) -> None:
    author = person(roles.AUTHOR)
    secret = tokens.create_token(project, user=author, scopes=["read"], by=operator)
    headers = {"Authorization": f"Bearer {secret}"}
    assert Client().get("/api/v1/projects/demo/catalog", headers=headers).status_code == 200
    browser_client(roles.OWNER).post(address(project, author, "remove"))
    assert Client().get("/api/v1/projects/demo/catalog", headers=headers).status_code in (401, 403)


def test_the_tokens_that_a_removal_revokes_are_listed_before_it(
    project: Project, person: Person, operator: Actor, browser_client: Browser
) -> None:
    maker = permissions.person(person(roles.OWNER), project)
    members.set_role(project, accounts.create_user("second", by=operator), roles.OWNER, by=operator)
    agent = agents.ensure(project, "helper", by=operator)
    token = tokens.issue_token(project, agent=agent, by=maker).token
    client = browser_client(roles.OWNER)
    page = client.get(LIST).content.decode()
    assert f"<code>{token.start}…</code> of the agent helper" in " ".join(page.split())
    assert "This agent stops working until an owner creates a new token:" in page
    left = client.post(address(project, person(roles.OWNER), "remove"), follow=True).content.decode()
    assert "1 token was revoked." in left
    assert Token.objects.get(pk=token.pk).revoked_at is not None


def test_a_lower_role_lists_the_tokens_that_it_revokes_and_asks_again(
    project: Project, person: Person, operator: Actor, browser_client: Browser
) -> None:
    author = person(roles.AUTHOR)
    strong, weak = (
        tokens.issue_token(project, user=author, scopes=scopes, by=operator).token for scopes in (["write"], ["read"])
    )
    client, where = browser_client(roles.OWNER), address(project, author, "role")
    page = client.post(where, {"role": roles.VIEWER}).content.decode()
    assert (strong.start in page, "Make author a viewer?" in page, of(author, project)) == (True, True, roles.AUTHOR)
    changed = client.post(where, {"role": roles.VIEWER, "confirmed": "1"}, follow=True).content.decode()
    assert "author is now a viewer. 1 token was revoked." in changed
    assert of(author, project) == roles.VIEWER
    assert [Token.objects.get(pk=each.pk).revoked_at is None for each in (strong, weak)] == [False, True]


@pytest.mark.parametrize("role", NOT_OWNERS)
def test_members_who_are_not_owners_can_only_leave(
    project: Project, person: Person, browser_client: Browser, role: str
) -> None:
    client, owner = warm(browser_client(role)), person(roles.OWNER)
    with nothing_left_behind():
        assert client.post(address(project, owner, "role"), {"role": roles.VIEWER}).status_code == 403
        assert client.post(address(project, owner, "remove")).status_code == 403
        assert client.post(address(project, person(role), "role"), {"role": roles.OWNER}).status_code == 403
        for values in ({"role": roles.OWNER}, {}):
            assert client.post(INVITE, values).status_code == 403
    assert client.post(address(project, person(role), "remove"))["Location"] == "/projects/"
    assert of(User.objects.get(username=role), project) is None


@pytest.mark.parametrize(("what", "values"), [("role", {"role": roles.VIEWER}), ("remove", {})])
def test_the_last_owner_stays_and_stays_owner(
    project: Project, person: Person, browser_client: Browser, what: str, values: dict[str, str]
) -> None:
    client, owner = warm(browser_client(roles.OWNER)), person(roles.OWNER)
    with nothing_left_behind():
        response = client.post(address(project, owner, what), values)
    assert response.status_code == 409
    assert "owner is the last owner of Demo. Make another member an owner first." in response.content.decode()


def test_one_of_two_owners_may_leave(
    project: Project, person: Person, operator: Actor, browser_client: Browser
) -> None:
    members.set_role(project, accounts.create_user("second", by=operator), roles.OWNER, by=operator)
    client = browser_client(roles.OWNER)
    assert client.post(address(project, person(roles.OWNER), "remove")).status_code == 302
    assert client.get(LIST).status_code == 404


def test_a_member_of_another_project_is_not_found_by_number(
    project: Project, other_project: Project, operator: Actor, browser_client: Browser
) -> None:
    stranger = accounts.create_user("stranger", by=operator)
    theirs = members.set_role(other_project, stranger, roles.OWNER, by=operator)
    client = warm(browser_client(roles.OWNER))
    with nothing_left_behind():
        assert client.post(f"{LIST}{theirs.pk}/role/", {"role": roles.VIEWER}).status_code == 404
        assert client.post(f"{LIST}{theirs.pk}/remove/").status_code == 404
        assert client.get("/projects/other/members/").status_code == 404


def test_forms_of_another_site_are_refused(
    project: Project, person: Person, operator: Actor, browser_client: Browser
) -> None:
    viewer = person(roles.VIEWER)
    link = invited(project, by=operator)
    client = warm(browser_client(roles.OWNER, strict=True))
    with nothing_left_behind():
        for where in (INVITE, address(project, viewer, "role"), address(project, viewer, "remove"), link):
            assert client.post(where, {"role": roles.OWNER}).status_code == 403


def test_a_hostile_name_is_text(project: Project, person: Person, browser_client: Browser) -> None:
    accounts.rename(person(roles.VIEWER), '"><script>alert(1)</script>')
    page = browser_client(roles.OWNER).get(LIST).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_number_of_queries_does_not_grow_with_the_members(
    project: Project, operator: Actor, browser_client: Browser, django_assert_max_num_queries: Any
) -> None:
    client = warm(browser_client(roles.OWNER))
    for number in range(15):
        user = accounts.create_user(f"person-{number}", by=operator)
        members.set_role(project, user, roles.VIEWER, by=operator)
        invitations.make(project, roles.VIEWER, by=operator)
        if number in (0, 14):
            # session, user, membership with project, members, invitations, the switcher's projects, waiting proposals,
            # unread notices, tokens that a removal would revoke
            with django_assert_max_num_queries(10):
                client.get(LIST)


# -- Invitations --------------------------------------------------------------------------------------------


def test_an_invitation_is_shown_once_and_kept_as_a_hash(project: Project, browser_client: Browser) -> None:
    client = browser_client(roles.OWNER)
    response = client.post(INVITE, {"role": roles.REVIEWER, "note": "  Maja,  travel "})
    link = response.context["link"]
    secret = urlsplit(link).path.split("/")[2]
    assert response.status_code == 201
    assert link in response.content.decode()
    assert "no-store" in response["Cache-Control"]
    kept = Invitation.objects.get()
    assert (kept.role, kept.note) == (roles.REVIEWER, "Maja, travel")
    assert secret not in str(Invitation.objects.values())
    assert secret not in str(list(Event.objects.values()))
    again = client.get(LIST).content.decode()
    assert "Maja, travel" in again
    assert secret not in again


@pytest.mark.parametrize("values", [{}, {"role": "god"}, {"role": roles.VIEWER, "note": "x" * 101}])
def test_an_invitation_that_makes_no_sense_is_refused(
    project: Project, browser_client: Browser, values: dict[str, str]
) -> None:
    client = warm(browser_client(roles.OWNER))
    with nothing_left_behind():
        assert client.post(INVITE, values).status_code == 422


def test_others_do_not_see_open_invitations(project: Project, operator: Actor, browser_client: Browser) -> None:
    invitations.make(project, roles.OWNER, note="secret guest", by=operator)
    assert "secret guest" not in browser_client(roles.REVIEWER).get(LIST).content.decode()


@pytest.mark.parametrize("method", ["get", "head"])
def test_looking_at_an_invitation_does_not_spend_it(project: Project, operator: Actor, method: str) -> None:
    link = invited(project, by=operator)
    with nothing_left_behind():
        response = getattr(Client(), method)(link)
    assert response.status_code == 200
    assert response["Referrer-Policy"] == "same-origin"
    if method == "get":
        assert "Join Demo" in response.content.decode()
        assert "as <strong>author</strong>" in response.content.decode()


def test_an_invitation_works_for_one_existing_account(project: Project, operator: Actor) -> None:
    link = invited(project, roles.REVIEWER, by=operator)
    user = accounts.create_user("maja", by=operator)
    client = Client()
    client.force_login(user)
    assert "Join as maja" in client.get(link).content.decode()
    assert client.post(link)["Location"] == "/projects/demo/skills/"
    assert of(user, project) == roles.REVIEWER
    event = Event.objects.get(verb="member.joined")
    assert (event.target, event.user_id, event.data["role"]) == ("maja", user.pk, roles.REVIEWER)
    second = Client()
    second.force_login(accounts.create_user("second", by=operator))
    assert second.post(link).status_code == 404
    assert second.get(link).status_code == 404


def test_an_invited_person_creates_an_account_and_is_signed_in(project: Project, operator: Actor) -> None:
    client = Client()
    response = client.post(invited(project, by=operator), NEW)
    assert (response.status_code, response["Location"]) == (302, "/projects/demo/skills/")
    user = User.objects.get(username="maja")
    assert (user.display_name, user.is_staff, user.check_password(NEW["password"])) == ("Maja Lindqvist", False, True)
    assert of(user, project) == roles.AUTHOR
    assert client.get("/projects/demo/skills/").status_code == 200


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"username": ""}, "Choose a username"),
        ({"username": "Maja"}, "lower-case letters"),
        ({"username": "maja lindqvist"}, "lower-case letters"),
        ({"username": "../maja"}, "lower-case letters"),
        ({"username": "m" * 65}, "at most 64"),
        ({"username": "taken"}, "The username taken is taken."),
        ({"full_name": ""}, "Enter your name."),
        ({"full_name": "x" * 101}, "at most 100"),
        ({"password": ""}, "Choose a password"),
        ({"password": "short"}, "too short"),
        ({"password": "password123"}, "too common"),
        ({"password": "maja lindqvist"}, "too similar"),
    ],
)
def test_an_account_that_cannot_be_made_leaves_the_invitation_open(
    project: Project, operator: Actor, values: dict[str, str], said: str
) -> None:
    accounts.create_user("taken", by=operator)
    link, client = invited(project, by=operator), Client()
    with nothing_left_behind():
        response = client.post(link, {**NEW, **values})
    assert response.status_code == 422
    assert said in response.content.decode()
    assert NEW["password"] not in response.content.decode()
    assert client.post(link, NEW).status_code == 302


def test_signing_in_first_leads_back_to_the_invitation(project: Project, operator: Actor) -> None:
    link = invited(project, by=operator)
    user = accounts.create_user("maja", by=operator)
    accounts.set_password(user, NEW["password"])
    client = Client()
    sign_in = f"/sign-in/?next={link}"
    assert f'href="{sign_in}"' in client.get(link).content.decode()
    response = client.post(sign_in, {"username": "maja", "password": NEW["password"], "next": link})
    assert response["Location"] == link
    assert of(user, project) is None


def test_a_member_does_not_use_up_an_invitation_nor_lose_a_role(
    project: Project, operator: Actor, browser_client: Browser, person: Person
) -> None:
    link = invited(project, roles.VIEWER, by=operator)
    client = warm(browser_client(roles.OWNER))
    with nothing_left_behind():
        assert client.post(link)["Location"] == "/projects/demo/skills/"
    assert of(person(roles.OWNER), project) == roles.OWNER
    assert "You are already a member of Demo." in client.get(LIST).content.decode()
    assert Client().get(link).status_code == 200


def spoil(how: str, project: Project, operator: Actor) -> None:
    if how == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif how == "withdrawn":
        invitations.withdraw(project, Invitation.objects.get().pk, by=operator)
    elif how == "archived":
        projects.archive(project, by=operator)
    else:
        Invitation.objects.all().delete()


@pytest.mark.parametrize("how", ["expired", "withdrawn", "archived", "unknown"])
def test_an_invitation_that_is_over_makes_no_account_and_no_member(project: Project, operator: Actor, how: str) -> None:
    link, user = invited(project, by=operator), accounts.create_user("maja", by=operator)
    spoil(how, project, operator)
    member = Client()
    member.force_login(user)
    with nothing_left_behind():
        for client in (Client(), member):
            assert client.get(link).status_code == 404
            response = client.post(link, {**NEW, "username": "new"})
            assert response.status_code == 404
            assert "This invitation no longer works" in response.content.decode()
            assert "Demo" not in response.content.decode()


@pytest.mark.parametrize("role", NOT_OWNERS)
def test_only_an_owner_withdraws_an_invitation(
    project: Project, operator: Actor, browser_client: Browser, role: str
) -> None:
    invitations.make(project, roles.VIEWER, by=operator)
    where = f"/projects/demo/invitations/{Invitation.objects.get().pk}/withdraw/"
    client = warm(browser_client(role))
    with nothing_left_behind():
        assert client.post(where).status_code == 403
    owner = browser_client(roles.OWNER)
    assert owner.post(where).status_code == 302
    assert owner.post(where).status_code == 404


def test_an_invitation_of_another_project_is_not_withdrawn(
    project: Project, other_project: Project, operator: Actor, browser_client: Browser
) -> None:
    invitations.make(other_project, roles.VIEWER, by=operator)
    client = warm(browser_client(roles.OWNER))
    with nothing_left_behind():
        where = f"/projects/demo/invitations/{Invitation.objects.get().pk}/withdraw/"
        assert client.post(where).status_code == 404


@pytest.mark.parametrize("how", ["removed", "demoted"])
def test_a_former_owner_cannot_use_their_own_invitation(project: Project, operator: Actor, how: str) -> None:
    former = accounts.create_user("former", by=operator)
    members.set_role(project, former, roles.OWNER, by=operator)
    members.set_role(project, accounts.create_user("other", by=operator), roles.OWNER, by=operator)
    link = invited(project, roles.OWNER, by=permissions.person(former, project))
    if how == "removed":
        members.remove(project, former, by=operator)
    else:
        members.set_role(project, former, roles.VIEWER, by=operator)
    client = Client()
    client.force_login(former)
    assert client.post(link).status_code == 404
    assert of(former, project) == (None if how == "removed" else roles.VIEWER)
