"""Bearer authentication for the views of Django REST framework."""

from dataclasses import replace

from django.http import HttpRequest
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from registry.models import Project
from registry.services import client_address
from registry.services.agents import bearer
from registry.services.agents.tokens import Caller
from registry.services.catalog import catalog


def identify(request: HttpRequest, project: str) -> Caller:
    return bearer.identify(request.META.get("HTTP_AUTHORIZATION", ""), project=project)


class BearerToken(BaseAuthentication):
    """Authenticate writes. Reads call `identify` themselves, before DRF wraps the request."""

    def authenticate(self, request: Request) -> tuple[Caller, Project]:
        kwargs = request.parser_context["kwargs"]
        caller = identify(request._request, kwargs["project"])
        if "name" in kwargs:
            catalog.permit(kwargs["name"], caller.allowed)
        actor = replace(caller.actor, address=client_address.address(request.META))
        return replace(caller, actor=actor), Project.objects.get(pk=caller.project_id)

    def authenticate_header(self, request: Request) -> str:
        return bearer.CHALLENGE


class BearerTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = BearerToken
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "Create a token with `manage.py create_token`."}
