"""Turns `Authorization: Bearer sks_…` into a caller."""

from dataclasses import replace

from django.http import HttpRequest
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from registry.core.errors import NotFound, Unauthenticated
from registry.models import Project
from registry.services import client_address
from registry.services.agents import tokens
from registry.services.agents.tokens import Caller
from registry.services.catalog import catalog, usage


def identify(request: HttpRequest, project: str) -> Caller:
    """The caller, if their token is of this project; another project's anything is not there for them."""
    scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise Unauthenticated("Send a token: Authorization: Bearer sks_…")
    now = timezone.now()
    caller = tokens.authenticate(secret.strip(), now=now)
    if caller.project_slug != project:
        raise NotFound("There is no such project.")
    usage.saw(caller.token_id, caller.actor.agent_id, now=now)
    return caller


class BearerToken(BaseAuthentication):
    """What DRF's views use; reads call `identify` themselves, before DRF wraps the request."""

    def authenticate(self, request: Request) -> tuple[Caller, Project]:
        kwargs = request.parser_context["kwargs"]
        caller = identify(request._request, kwargs["project"])
        if "name" in kwargs:
            catalog.permit(kwargs["name"], caller.allowed)
        actor = replace(caller.actor, address=client_address.address(request.META))
        return replace(caller, actor=actor), Project.objects.get(pk=caller.project_id)

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="skillsite"'


class BearerTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = BearerToken
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "`manage.py create_token` makes one."}
