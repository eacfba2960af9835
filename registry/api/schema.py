"""The OpenAPI document of the API: each operation tells the shape of its errors, which is the same everywhere."""

from typing import Any

from drf_spectacular.openapi import AutoSchema

from registry.api.shapes import ProblemShape


class Schema(AutoSchema):  # type: ignore[misc]
    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        problem = self._get_response_for_code(ProblemShape, "default", ["application/problem+json"], direction)
        return {**bodies, "default": problem}
