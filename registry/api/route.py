"""The view that finds the skills for a question."""

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api.write_view import Write
from registry.core import roles
from registry.core.format import skill_md
from registry.core.routing import request as requests
from registry.core.routing.golden import QUERY_CHARS
from registry.services.agents import agent_routing
from registry.services.agents.tokens import Caller
from registry.services.routing import route_answer


class RouteInput(serializers.Serializer[Any]):
    """Describes the body for the OpenAPI document. `requests.parse` checks it, because errors name their field."""

    query = serializers.CharField(
        max_length=QUERY_CHARS, allow_blank=True, trim_whitespace=False, help_text="The question, as somebody asks it."
    )
    limit = serializers.IntegerField(
        min_value=1, max_value=requests.MOST_MATCHES, required=False, allow_null=True, help_text="The default is 5."
    )
    kind = serializers.ChoiceField(
        choices=list(skill_md.KINDS), required=False, allow_null=True, help_text="Only skills of this kind."
    )
    threshold = serializers.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        allow_null=True,
        help_text="The least confidence of the first match. 0 returns the whole ranking. Default: the project's own.",
    )


class Route(Write):
    """A read with a question that is too long for a URL. It counts against the limit for reads."""

    write_scope = roles.READ
    counts_as_write = False
    body_bytes = 256 * 1024  # a query of the greatest length, with every character escaped
    body_hint = f"A query may have {QUERY_CHARS:,} characters."

    @extend_schema(
        operation_id="route",
        summary="Find the skills for a question, best first",
        description=(
            "Without a skill that is likely to be right, the list of matches is empty. Each match can be loaded with "
            "the version and digest that it names."
        ),
        request=RouteInput,
        responses={200: route_answer.RouteShape},
    )
    def post(self, request: Request, project: str) -> Response:
        routed = agent_routing.route(cast(Caller, request.user), requests.parse(request.data))
        return Response(route_answer.as_json(routed))
