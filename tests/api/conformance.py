"""Schemathesis tests of single operations.

Its pytest plugin derives the cases of all operations in every worker, before the first test runs. Tests import this
module when they run, because the import of Schemathesis takes a second.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.python._constants.orchestrator import make_constants_value_source
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from skillsite.wsgi import application
from tests import effort

CHECKS = (
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
)
# Schemathesis derives most cases from the document: its examples, its limits, and values beyond them. Hypothesis adds a
# few more, which are the same on every day and random in a soak.
_bounded = settings(
    max_examples=effort.rounds(2),
    derandomize=not effort.SOAKING,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
_CONFIG = SchemathesisConfig(seed=None if effort.SOAKING else 1)


@cache
def _operations() -> tuple[Any, dict[str, Any], FeedbackSources]:
    load_all_checks()
    schema = schemathesis.openapi.from_wsgi("/api/schema/?format=json", application, config=_CONFIG)
    operations = {result.ok().label: result.ok() for result in schema.get_all_operations()}
    return schema, operations, FeedbackSources(constants_value_source=make_constants_value_source(schema))


def run(label: str, check: Callable[..., None], **fixtures: Any) -> None:
    """Call `check` with each case of the operation, for example `GET /api/v1/projects`."""
    schema, operations, feedback = _operations()
    build_operation_test(
        config=schema.config,
        operation=operations[label],
        test_func=_bounded(check),
        given_kwargs={},
        feedback=feedback,
    )(**fixtures)
