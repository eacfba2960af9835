"""Errors as problems: every error has a status in API and web, and the same keys."""

import json
from typing import Any

import pytest

from registry.api import problems
from registry.core import errors
from registry.core.errors import SkillsiteError
from registry.core.findings import Finding, Severity
from registry.web import middleware

FAMILY = list(errors.family())


def test_error_codes_are_unique_but_for_stale() -> None:
    """Only an error that a client handles like its parent shares the code of the parent."""
    codes = [error.code for error in FAMILY if error is not errors.StaleProposal]
    assert len(set(codes)) == len(codes)
    assert issubclass(errors.StaleProposal, errors.Stale)
    assert errors.StaleProposal.code == errors.Stale.code == "stale"
    assert all(code == code.lower() and " " not in code for code in codes)


@pytest.mark.parametrize("module", [problems, middleware])
def test_api_and_web_map_every_error_to_a_status(module: Any) -> None:
    """Every error is the fault of the request, except for a busy site and others that do not answer as they should."""
    assert set(module.STATUS) == set(FAMILY)
    beyond = {error: status for error, status in module.STATUS.items() if not 400 <= status < 500}
    assert beyond == {
        errors.SourceFailed: 502, errors.Busy: 503, errors.CallFailed: 502, errors.CallTimedOut: 504,
        errors.GateFailed: 503, errors.CallUnavailable: 503,
    }  # fmt: skip


def test_the_docstring_of_errors_names_every_code() -> None:
    assert errors.__doc__
    for error in FAMILY:
        assert error.__name__ in errors.__doc__
        if error not in (SkillsiteError, errors.InvalidInput):
            assert f" {error.code} " in errors.__doc__


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.code)
def test_an_error_becomes_a_problem_with_its_code_findings_and_data(kind: type[SkillsiteError]) -> None:
    finding = Finding("a-rule", Severity.ERROR, "SKILL.md", 3, "Wrong.", "Mend it.")
    response = problems.response(kind("What is wrong.", findings=[finding], retry_after=7, digest="sha256:0"))
    body = json.loads(response.content)
    assert response["Content-Type"] == "application/problem+json"
    assert response.status_code == body["status"] == problems.STATUS[kind]
    assert (body["code"], body["detail"], body["digest"]) == (kind.code, "What is wrong.", "sha256:0")
    assert body["findings"] == [
        {
            "rule": "a-rule",
            "severity": "error",
            "category": "format",
            "file": "SKILL.md",
            "line": 3,
            "message": "Wrong.",
            "fix": "Mend it.",
        }
    ]


def test_a_problem_names_the_field_only_if_one_is_at_fault() -> None:
    assert json.loads(problems.response(errors.InvalidRequest("Too long.", field="ref")).content)["field"] == "ref"
    assert "field" not in json.loads(problems.response(errors.InvalidRequest("Too long.")).content)


def test_a_lone_surrogate_in_a_message_is_replaced() -> None:
    assert b"?" in problems.response(errors.InvalidRequest("There is no \ud800.")).content


def test_only_an_unauthenticated_caller_is_asked_for_a_token() -> None:
    assert "WWW-Authenticate" in problems.response(errors.Unauthenticated("Who?"))
    assert "WWW-Authenticate" not in problems.response(errors.Forbidden("No."))
