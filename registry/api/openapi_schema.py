"""The OpenAPI document of the API: each operation tells the shape of its errors, which is the same everywhere."""

from typing import Any

from drf_spectacular.openapi import AutoSchema

from registry.api.shapes import ProblemShape


class Schema(AutoSchema):
    def get_description(self) -> str:  # type: ignore[override]
        """Only what an operation says on purpose: the docstrings of views are for who reads the code."""
        return ""

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        kinds = ["application/problem+json"]
        problem = self._get_response_for_code(ProblemShape, "default", kinds, direction)  # type: ignore[no-untyped-call]
        return {**bodies, "default": problem}
